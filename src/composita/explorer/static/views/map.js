// Map: chosen words and composed sentences in two dimensions; wheel, pinch, drag and keys move it.

import { ask } from "../api.js";
import { address, drawing, h, note, number, problem, s, wideSheet } from "../dom.js";
import { saves } from "../save.js";

const WIDTH = 900, HEIGHT = 560, EDGE = 70;

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

/** Labels are moved up or down until they lie free of each other, as far as that goes. */
function spread(points) {
  const boxes = [];
  for (const point of [...points].sort((a, b) => a.top - b.top)) {
    const width = Math.max(...[point.text.length * 7.2, 20]);
    for (let attempt = 0; attempt < 24; attempt += 1) {
      const step = Math.ceil(attempt / 2) * 15 * (attempt % 2 ? 1 : -1);
      const box = { left: point.left + 8, right: point.left + 8 + width, top: point.top - 7 + step, bottom: point.top + 7 + step };
      if (!boxes.some((other) => box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top) || attempt === 23) {
        boxes.push(box);
        point.shift = step;
        break;
      }
    }
  }
}

function picture(found) {
  const xs = found.points.map((p) => p.x), ys = found.points.map((p) => p.y);
  const [lowX, highX, lowY, highY] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  // One scale for both axes, or distances would deceive.
  const unit = Math.min((WIDTH - 3 * EDGE) / (highX - lowX || 1), (HEIGHT - 2 * EDGE) / (highY - lowY || 1));
  let view = { x: 0, y: 0, zoom: 1 };
  const marks = h("div");
  const svg = drawing(WIDTH, HEIGHT, "map of the words and sentences", { class: "drawing map", role: "group", tabindex: 0 });
  const layer = s("g", {});
  svg.append(layer);
  const draw = () => {
    const points = found.points.map((p) => ({
      ...p, text: p.display,
      left: WIDTH / 2 + ((p.x - (lowX + highX) / 2) * unit + view.x) * view.zoom - EDGE / 2,
      top: HEIGHT / 2 - ((p.y - (lowY + highY) / 2) * unit - view.y) * view.zoom,
    }));
    spread(points);
    layer.replaceChildren(...points.map((p) => s("a", { href: p.kind === "word" ? address("word", { w: p.label }) : address("compose", { s: p.label }) },
      s("circle", { class: p.kind === "word" ? "dot" : "dot other", cx: p.left, cy: p.top, r: 4.5 }),

      s("text", { class: "halo", x: p.left + 8, y: p.top + 4 + p.shift }, p.text))));
  };
  const zoom = (factor, x = 0, y = 0) => {
    const next = Math.min(40, Math.max(0.5, view.zoom * factor));
    view = { x: view.x + x / next - x / view.zoom, y: view.y + y / next - y / view.zoom, zoom: next };
    draw();
  };
  const where = (event) => {
    const box = svg.getBoundingClientRect(), ratio = WIDTH / box.width;
    return [(event.clientX - box.left) * ratio - WIDTH / 2, (event.clientY - box.top) * ratio - HEIGHT / 2];
  };
  const pointers = new Map();
  svg.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, ...where(event)); }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, where(event)); });
  svg.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = where(event);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) zoom(Math.hypot(now[0] - other[0], now[1] - other[1]) / (Math.hypot(before[0] - other[0], before[1] - other[1]) || 1), ...other);
    else {
      view = { ...view, x: view.x + (now[0] - before[0]) / view.zoom, y: view.y + (now[1] - before[1]) / view.zoom };
      draw();
    }
    pointers.set(event.pointerId, now);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) svg.addEventListener(end, (event) => pointers.delete(event.pointerId));
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
  let found;
  try {
    found = await ask("map", { w: shown, projection });
  } catch (error) {
    return [...head, problem(error.message)];
  }
  const { svg, marks } = picture(found);
  return [
    ...head, found.notes.map(note),
    wideSheet(found.title, marks, found.explained ? h("p", { class: "lead" }, `The two axes show ${number(found.explained * 100, 0)} % of the differences between these points.`) : null,
      saves("map", { svg: () => svg, rows: () => found.points, data: () => found })),
  ];
}
