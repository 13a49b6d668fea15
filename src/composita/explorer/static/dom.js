// Elements: made by functions, with text always as text, so that no word of a corpus can become markup.

import { isLeft, query } from "./api.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

/** A drawing with a name that a screen reader says. */
export function drawing(width, height, name, properties, ...children) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, class: "drawing", role: "img", "aria-label": name, ...properties }, s("title", {}, name), ...children);
}

export function table(heads, rows, caption) {
  const cell = (tag, content, number) => h(tag, { class: number ? "number" : null, scope: tag === "th" ? "col" : null }, content);
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption ?? "table" }, h("table", {},
    caption ? h("caption", {}, caption) : null,
    h("thead", {}, h("tr", {}, heads.map((head) => cell("th", head.text ?? head, head.number)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((content, i) => i === 0
      ? h("th", { scope: "row" }, content)
      : cell("td", content, heads[i]?.number)))))));
}

/** A number as people read it: three digits behind the point, a true minus sign. */
export const number = (value, digits = 3) => value === null || value === undefined || Number.isNaN(value)
  ? "–" : value.toFixed(digits).replace("-", "−");
export const whole = (value) => value === null || value === undefined ? "–" : value.toLocaleString("en");

/** A small bar for a share between -1 and 1. */
export function meter(value) {
  const width = Math.min(1, Math.abs(value ?? 0)) * 100;
  return s("svg", { class: "meter", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { x: 0, y: 1, width, height: 8, class: value < 0 ? "less" : "more" }));
}

export const sheet = (title, ...children) => h("section", { class: "sheet" }, h("h2", {}, title), ...children);
export const wideSheet = (title, ...children) => h("section", { class: "sheet full" }, h("h2", {}, title), ...children);
export const problem = (text) => h("p", { class: "problem", role: "alert" }, text);
export const note = (text) => h("p", { class: "note" }, text);

/** A part of the page that comes when it is known; what goes wrong is said in its place. */
export function later(title, promise, show) {
  const place = h("div", { class: "full", "aria-busy": "true" }, wideSheet(title, h("p", { class: "lead" }, "working …")));
  promise.then(show).catch((error) => (isLeft(error) ? null : wideSheet(title, problem(error.message)))).then((content) => {
    place.setAttribute("aria-busy", "false");
    place.replaceChildren(...[content].flat().filter(Boolean));
  });
  return place;
}

/** How wide a drawing can be, so that its letters keep their size on a phone. */
export const room = (most) => Math.max(300, Math.min(most, document.documentElement.clientWidth - 64));

export function link(page, parameters, text) {
  return h("a", { href: address(page, parameters) }, text);
}

/** The address of a view: its page and what it shows, so that it can be kept and sent. */
export function address(page, parameters = {}) {
  const text = query(parameters);
  return `/${page}${text ? `?${text}` : ""}`;
}

/** Wait for an answer; should there be none, what was there before and behind it is shown with the reason. */
export const within = (promise, shown, behind) => promise.catch((error) => { throw Object.assign(error, { shown, behind }); });
