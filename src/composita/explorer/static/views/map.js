// Map: chosen words and composed sentences in two dimensions; wheel, pinch, drag and keys move it.

import { ask } from "../api.js";
import { address, drawing, h, note, number, room, s, wideSheet, within } from "../dom.js";
import { saves } from "../save.js";

const EDGE = 70, CLICK = 4;

function form(about, items, projection, go) {
  const element = h("form", { class: "ask" },
    h("label", { class: "wide" }, "Words and sentences, one a line", h("textarea", { name: "w", rows: 5, maxlength: 8000, spellcheck: "false" }, items.join("\n"))),
    h("label", {}, "Projection", h("select", { name: "projection" }, about.projections.map((name) => h("option", { value: name, selected: name === projection }, name.toUpperCase())))),
    h("button", { class: "main" }, "Draw"));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData(element);
    go("map", { w: data.get("w").split("\n").map((line) => line.trim()).filter(Boolean), projection: data.get("projection") });
  });
  return element;
}

const LETTER = 7.4, LINE = 18;
const apart = (a, b) => a.right <= b.left || a.left >= b.right || a.bottom <= b.top || a.top >= b.bottom;

/** Put each label where it covers no other and no dot: beside its dot, or else as near as there is room. */
function spread(points) {
  const dots = points.map((point) => ({ left: point.left - 5, right: point.left + 5, top: point.top - 5, bottom: point.top + 5 }));
  const taken = [];
  for (const point of [...points].sort((a, b) => a.top - b.top)) {
    const size = Math.max(20, point.text.length * LETTER);
    const box = (x, y) => ({ left: point.left + x, right: point.left + x + size, top: point.top + y - 10, bottom: point.top + y + 9 });
    const places = [[8, 0], [-8 - size, 0], [-size / 2, -16], [-size / 2, 16]];
    for (let step = 1; step < 12; step += 1) for (const sign of [1, -1]) places.push([8, sign * step * LINE], [-8 - size, sign * step * LINE]);
    const covers = (place) => [...taken, ...dots].filter((other) => !apart(box(...place), other)).length;
    const free = places.find((place) => covers(place) === 0) ?? places[0];
    taken.push(box(...free));
    [point.x, point.y] = [point.left + free[0], point.top + free[1]];
    point.far = Math.abs(free[1]) > LINE;
    point.right = free[0] > 0;
    point.size = size;
  }
}

function picture(found) {
  const width = room(1180), height = Math.round(Math.min(620, Math.max(380, width * 0.6)));
  const xs = found.points.map((p) => p.x), ys = found.points.map((p) => p.y);
  const [lowX, highX, lowY, highY] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  // One scale for both axes, or distances would deceive.
  const unit = Math.min((width - 2.2 * EDGE) / (highX - lowX || 1), (height - EDGE) / (highY - lowY || 1));
  let view = { x: 0, y: 0, zoom: 1 };
  const marks = h("div");
  const svg = drawing(width, height, "map of the words and sentences", { class: "drawing map", role: "group", tabindex: 0 });
  const layer = s("g", {});
  svg.append(layer);
  const draw = () => {
    const points = found.points.map((p) => ({
      ...p, text: p.display,
      left: width / 2 + ((p.x - (lowX + highX) / 2) * unit + view.x) * view.zoom - EDGE / 2,
      top: height / 2 - ((p.y - (lowY + highY) / 2) * unit - view.y) * view.zoom,
    }));
    spread(points);
    const focused = [...layer.children].indexOf(document.activeElement);
    layer.replaceChildren(...points.map((p) => s("a", { href: p.kind === "word" ? address("word", { w: p.label }) : address("compose", { s: p.label }) },
      p.far ? s("path", { class: "edge", d: `M${p.left} ${p.top}L${p.right ? p.x - 1 : p.x + p.size} ${p.y}` }) : null,
      s("circle", { class: p.kind === "word" ? "dot" : "dot other", cx: p.left, cy: p.top, r: 4.5 }, s("title", {}, p.label)),
      s("text", { class: "halo", x: p.right ? p.x : p.x + p.size / 2, y: p.y + 4, "text-anchor": p.right ? "start" : "middle" }, p.text))));
    layer.children[focused]?.focus();
  };
  const zoom = (factor, x = 0, y = 0) => {
    const next = Math.min(40, Math.max(0.5, view.zoom * factor));
    view = { x: view.x + x / next - x / view.zoom, y: view.y + y / next - y / view.zoom, zoom: next };
    draw();
  };
  const where = (event) => {
    const box = svg.getBoundingClientRect(), ratio = width / box.width;
    return [(event.clientX - box.left) * ratio - width / 2, (event.clientY - box.top) * ratio - height / 2];
  };
  const pointers = new Map();
  let moved = 0;
  svg.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, ...where(event)); }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { moved = pointers.size ? CLICK : 0; pointers.set(event.pointerId, where(event)); });
  svg.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = where(event);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (moved < CLICK) return;
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) zoom(Math.hypot(now[0] - other[0], now[1] - other[1]) / (Math.hypot(before[0] - other[0], before[1] - other[1]) || 1), ...other);
    else {
      view = { ...view, x: view.x + (now[0] - before[0]) / view.zoom, y: view.y + (now[1] - before[1]) / view.zoom };
      draw();
    }
    pointers.set(event.pointerId, now);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) svg.addEventListener(end, (event) => pointers.delete(event.pointerId));
  // Who drags the map by a word does not want to go there.
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => { if (moved >= CLICK) event.preventDefault(); }, true);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
    if (step) view = { ...view, x: view.x + step[0] / view.zoom, y: view.y + step[1] / view.zoom };
    else if (event.key === "+" || event.key === "=") return zoom(1.25);
    else if (event.key === "-") return zoom(0.8);
    else if (event.key === "0") view = { x: 0, y: 0, zoom: 1 };
    else return;
    event.preventDefault();
    draw();
  });
  draw();
  const button = (text, name, act) => h("button", { type: "button", "aria-label": name, onclick: act }, text);
  marks.append(svg, h("div", { class: "saves" }, button("+", "nearer", () => zoom(1.25)), button("−", "farther", () => zoom(0.8)), button("1:1", "all of it", () => { view = { x: 0, y: 0, zoom: 1 }; draw(); })));
  return { svg, marks };
}

export async function map({ about, parameters, go }) {
  const items = parameters.getAll("w").filter(Boolean), projection = parameters.get("projection") ?? about.projections[0];
  const shown = items.length ? items : about.map_to_try;
  const head = [h("h1", {}, "Map"), h("p", { class: "lead" }, "Words and sentences that mean similar things lie near each other, as far as two dimensions can show it. Drag, use the wheel, or the arrow keys, + and −."), form(about, shown, projection, go)];
  if (shown.length < 3) return [...head, note("Give at least three words or sentences.")];
  const found = await within(ask("map", { w: shown, projection }), head);
  const { svg, marks } = picture(found);
  return [
    ...head, found.notes.map(note),
    wideSheet(found.title, marks, found.explained ? h("p", { class: "lead" }, `The two axes show ${number(found.explained * 100, 0)} % of the differences between these points.`) : null,
      saves("map", { svg: () => svg, rows: () => found.points, data: () => found })),
  ];
}
