// Compare: two or more sentences, by every method side by side.

import { ask, isLeft, pause } from "../api.js";
import { field } from "../complete.js";
import { drawing, h, link, meter, note, number, problem, s, sheet, table, wideSheet, within } from "../dom.js";
import { saves } from "../save.js";

const LEAD = "How near sentences are, by each way to compose them: the cosine of what they mean.";
const SOON = 1500, TRIES = 200;

function form(sentences, go) {
  const rows = h("div", { class: "wide rows" });
  const add = (text) => rows.append(field("s", `Sentence ${rows.children.length + 1}`, text));
  [...sentences, ...Array(Math.max(0, 2 - sentences.length)).fill("")].forEach(add);
  const element = h("form", { class: "ask" }, rows,
    h("button", { type: "button", onclick: () => { add(""); rows.lastChild.querySelector("input").focus(); } }, "Another sentence"),
    h("button", { class: "main" }, "Compare"));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("compare", { s: new FormData(element).getAll("s").map((text) => text.trim()).filter(Boolean) });
  });
  return element;
}

/** A square of all pairs: the nearer, the darker. */
function heat(sentences, matrix, title) {
  const n = sentences.length, cell = 38;
  const short = (text) => (text.length > 26 ? `${text.slice(0, 25)}…` : text);
  const left = 40 + 7.2 * Math.max(...sentences.map((text) => short(text).length));
  const size = { width: left + n * cell + 10, height: n * cell + 26 };
  return drawing(size.width, size.height, title, { class: "drawing natural heat", ...size },
    sentences.map((text, i) => s("text", { x: left - 8, y: 26 + i * cell + 23, "text-anchor": "end" }, `${short(text)} ${i + 1}`)),
    sentences.map((_, i) => s("text", { class: "quiet", x: left + i * cell + cell / 2, y: 16, "text-anchor": "middle" }, i + 1)),
    matrix.flatMap((row, i) => row.map((value, j) => s("g", {},
      s("title", {}, `${sentences[i]} / ${sentences[j]}: ${number(value)}`),
      s("rect", { x: left + j * cell, y: 26 + i * cell, width: cell, height: cell, class: value < 0 ? "less" : "more", "fill-opacity": value === null ? 0 : 0.6 * Math.min(1, Math.abs(value)) }),
      s("text", { x: left + j * cell + cell / 2, y: 26 + i * cell + cell / 2 + 4, "text-anchor": "middle", class: "quiet cell" }, i === j ? "" : number(value, 2))))));
}

/** The same remark on many methods is said once. */
function remarks(methods) {
  const first = new Map();
  return methods.map((method) => {
    const said = method.notes.join(" "), common = said.replaceAll(method.name, "…");
    if (!said || !first.has(common)) {
      first.set(common, method.title);
      return said;
    }
    return `as ${first.get(common)}`;
  });
}

function pair(texts, found) {
  const said = remarks(found.methods);
  const rows = found.methods.map((method, i) => ({ name: method.name, method: method.title, cosine: method.matrix[0][1], remarks: said[i] }));
  return wideSheet(`${texts[0]} / ${texts[1]}`,
    table(["method", { text: "cosine", number: true }, "", "remarks"], rows.map((row) => [row.method, number(row.cosine), row.cosine === null ? "" : meter(row.cosine), row.remarks]), "all methods"),
    saves("compare", { rows: () => rows, data: () => found }));
}

function many(texts, found) {
  const known = found.methods.filter((method) => method.matrix.flat().some((value) => value !== null));
  const others = found.methods.filter((method) => !known.includes(method));
  const said = remarks(known), why = remarks(others);
  const pairs = () => found.methods.flatMap((method) => method.matrix.flatMap((row, i) => row.slice(i + 1).map((cosine, k) => ({ method: method.name, sentence: texts[i], other: texts[i + 1 + k], cosine }))));
  return [
    known.map((method, i) => {
      const picture = heat(texts, method.matrix, `${method.title}: all pairs`);
      return sheet(method.title, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": method.title }, picture), said[i] ? note(said[i]) : null,
        saves(`compare-${method.name}`, { svg: () => picture, rows: () => method.matrix.map((row, i) => ({ sentence: texts[i], ...Object.fromEntries(row.map((value, j) => [texts[j], value])) })) }));
    }),
    others.length ? wideSheet("Methods without figures", table(["method", "reason"], others.map((method, i) => [method.title, why[i]]))) : null,
    wideSheet("All pairs by all methods", saves("compare", { rows: pairs, data: () => found })),
  ];
}

const sentencesOf = (found) => wideSheet("The sentences", h("ul", {}, found.sentences.map((sentence) => h("li", {},
  link("compose", { s: sentence.text }, sentence.text), sentence.phrase ? [" ", h("span", { class: "term" }, sentence.phrase)] : null))));

export async function compare({ about, parameters, go }) {
  const sentences = parameters.getAll("s").filter(Boolean);
  const head = [h("h1", {}, "Compare meanings"), h("p", { class: "lead" }, LEAD), form(sentences, go)];
  if (sentences.length < 2) {
    const pairs = about.pairs.map((two) => link("compare", { s: two }, two.join(" / ")));
    return [...head, sentences.length ? note("Give at least two sentences.") : h("div", { class: "chips" }, pairs)];
  }
  const place = h("div", { class: "sheets" });
  const show = (found) => {
    const texts = found.sentences.map((sentence) => sentence.text);
    place.setAttribute("aria-busy", String(found.waiting));
    place.replaceChildren(...[texts.length > 2 ? many(texts, found) : pair(texts, found), sentencesOf(found)].flat(Infinity).filter(Boolean));
  };
  const again = async (tries) => {
    for (let left = tries; left > 0; left -= 1) {
      await pause(SOON);
      const found = await ask("compare", { s: sentences });
      show(found);
      if (!found.waiting) return;
    }
  };
  const found = await within(ask("compare", { s: sentences }), head);
  show(found);
  // What is still being learned is put in as soon as it is there.
  if (found.waiting) again(TRIES).catch((error) => { if (!isLeft(error)) place.prepend(problem(error.message)); });
  const swaps = found.sentences.flatMap((sentence) => sentence.swapped.map((other) => link("compare", { s: [sentence.text, other] }, `${sentence.text} ⇄ ${other}`)));
  return [
    ...head,
    swaps.length ? [h("p", { class: "lead" }, "With its arguments swapped:"), h("div", { class: "chips", role: "group", "aria-label": "with arguments swapped" }, swaps)] : null,
    found.sentences.filter((sentence) => sentence.error).map((sentence) => problem(`${sentence.text}: ${sentence.error}`)),
    place,
  ];
}
