// A derivation as a tree: categories with their types and tensor shapes above the words.

import { drawing, s } from "./dom.js";

const WIDE = 8, ROW = 74, TOP = 26;

/** Give every node its place: leaves side by side, each parent above the middle of its children. */
function place(node, depth, leaves) {
  const lines = [node.category, node.type, node.shape].filter(Boolean);
  const width = Math.max(70, ...[...lines, node.word ?? ""].map((line) => String(line).length * WIDE)) + 16;
  const children = (node.children ?? []).map((child) => place(child, depth + 1, leaves));
  let x;
  if (children.length) {
    x = (children[0].x + children.at(-1).x) / 2;
  } else {
    x = leaves.end + width / 2;
    leaves.end += width;
  }
  leaves.deepest = Math.max(leaves.deepest, depth);
  leaves.end = Math.max(leaves.end, x + width / 2);
  return { node, x, depth, children };
}

export function tree(root, name) {
  const leaves = { end: 8, deepest: 0 };
  const top = place(root, 0, leaves);
  const parts = [];
  const draw = ({ node, x, depth, children }) => {
    const y = TOP + depth * ROW;
    for (const child of children) {
      parts.push(s("path", { class: "edge", d: `M${x} ${y + 22}L${child.x} ${TOP + child.depth * ROW - 14}` }));
      draw(child);
    }
    parts.push(s("text", { x, y, "text-anchor": "middle", "font-weight": 600 }, node.category));
    const small = [node.type, node.shape].filter(Boolean).join(" · ");
    parts.push(s("text", { x, y: y + 15, "text-anchor": "middle", class: "quiet" }, small));
    if (node.word) {
      parts.push(s("path", { class: "edge", d: `M${x} ${y + 21}V${y + 34}` }));
      parts.push(s("text", { x, y: y + 50, "text-anchor": "middle", "font-style": "italic" }, node.word));
    }
  };
  draw(top);
  const width = leaves.end + 8, height = TOP + leaves.deepest * ROW + 62;
  return drawing(width, height, name, { class: "drawing natural", width, height }, ...parts);
}
