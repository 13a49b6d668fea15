// Small charts: a curve over a logarithmic axis, points with names, intervals.

import { drawing, number, room, s } from "./dom.js";

export function scale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

export function ticks(low, high, about = 5) {
  const rough = (high - low) / about || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return found;
}

export function frame(x, y, { left, right, top, bottom, xticks, yticks, xname, yname, digits = 1, xtext }) {
  return [
    ...yticks.map((t) => [s("path", { class: "grid", d: `M${left} ${y(t)}H${right}` }),
      s("text", { class: "quiet", x: left - 6, y: y(t) + 4, "text-anchor": "end" }, number(t, digits))]),
    ...xticks.map((t) => [s("path", { class: "axis", d: `M${x(t)} ${bottom}v4` }),
      s("text", { class: "quiet", x: x(t), y: bottom + 17, "text-anchor": "middle" }, xtext ? xtext(t) : number(t, digits))]),
    s("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
    s("text", { class: "quiet", x: (left + right) / 2, y: bottom + 33, "text-anchor": "middle" }, xname),
    s("text", { class: "quiet", x: 0, y: 0, "text-anchor": "middle", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)` }, yname),
  ];
}

/** Generalised cross-validation over lambda, with the lambda that was chosen. */
export function curve(points, chosen, name) {
  const shown = points.filter(([lambda, error]) => lambda > 0 && Number.isFinite(error));
  const logs = shown.map(([lambda]) => Math.log10(lambda)), errors = shown.map(([, error]) => error);
  const low = Math.min(...errors), high = Math.max(...errors);
  const width = Math.min(440, room(440)), box = { left: 62, right: width - 20, top: 12, bottom: 150 };
  const x = scale(Math.min(...logs), Math.max(...logs), box.left, box.right), y = scale(low, high, box.bottom, box.top);
  const digits = high < 1 ? 4 : 2;
  const at = chosen > 0 && Number.isFinite(chosen) ? Math.log10(chosen) : null;
  return drawing(width, 190, name, { class: "drawing small" },
    frame(x, y, { ...box, xticks: ticks(Math.min(...logs), Math.max(...logs), width < 400 ? 4 : 6), yticks: ticks(low, high, 3), xname: "log₁₀ λ", yname: "error", digits, xtext: (t) => number(t, 0) }),
    s("path", { class: "curve", d: `M${shown.map(([lambda, error]) => `${x(Math.log10(lambda))} ${y(error)}`).join("L")}` }),
    at === null ? null : s("circle", { class: "mark", cx: x(at), cy: y(errors[logs.reduce((best, value, i) => (Math.abs(value - at) < Math.abs(logs[best] - at) ? i : best), 0)]), r: 4.5 }, s("title", {}, `chosen: λ = ${chosen.toPrecision(3)}`)));
}

/** Bars of falling length: singular values. */
export function bars(values, name) {
  const highest = Math.max(...values, 1e-30), width = 440 / values.length;
  return drawing(440, 110, name, { class: "drawing small" }, values.map((value, i) => s("rect", {
    class: "dot", x: i * width, y: 105 - (value / highest) * 100, width: Math.max(0.5, width - 1), height: (value / highest) * 100,
  }, s("title", {}, `${i + 1}: ${value.toPrecision(4)}`))));
}
