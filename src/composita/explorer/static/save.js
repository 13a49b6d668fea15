// Saving what a view shows: drawings as SVG that looks the same elsewhere, tables as CSV, everything as JSON.

import { h } from "./dom.js";

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "font-style", "text-anchor"];

/** What a person looks for first; other columns follow. */
const FIRST = ["benchmark", "method", "space", "name", "label", "display", "sentence", "other", "text", "type", "shape", "kind", "items", "covered"];

function offer(text, type, name) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = h("a", { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Copy a drawing with the colours and letters that it has now, for it leaves its style sheet behind. */
export function standalone(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const copies = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of DRAWN) copies[i].setAttribute(name, style.getPropertyValue(name));
  });
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x: -5000, y: -5000, width: 10000, height: 10000, fill: getComputedStyle(document.body).backgroundColor })) paper.setAttribute(name, value);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

const quoted = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  // A spreadsheet takes what begins with one of these for a formula.
  const safe = /^[=+@\t\r]/.test(text) || (/^-/.test(text) && Number.isNaN(Number(text))) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
export const csv = (rows) => {
  const known = new Set(rows.flatMap(Object.keys));
  const names = [...FIRST.filter((name) => known.delete(name)), ...known];
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
};

export function saves(name, { svg, rows, data }) {
  const button = (text, act) => h("button", { type: "button", onclick: act }, text);
  return h("div", { class: "saves" },
    svg ? button("Save SVG", () => offer(standalone(svg()), "image/svg+xml", `${name}.svg`)) : null,
    rows ? button("Save CSV", () => offer(csv(rows()), "text/csv", `${name}.csv`)) : null,
    data ? button("Save JSON", () => offer(JSON.stringify(data(), null, 1), "application/json", `${name}.json`)) : null);
}
