// Compare: two or more sentences, by every method side by side.

import { ask } from "../api.js";
import { field } from "../complete.js";
import { drawing, h, link, meter, note, number, problem, s, sheet, table, wideSheet } from "../dom.js";
import { saves } from "../save.js";

function form(sentences, go) {
  const rows = h("div", { class: "wide" });
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
  const n = sentences.length, cell = 34, left = 190;
  const short = (text) => (text.length > 26 ? `${text.slice(0, 25)}…` : text);
  return drawing(left + n * cell + 10, n * cell + 26, title, { class: "drawing natural heat", width: left + n * cell + 10, height: n * cell + 26 },
    sentences.map((text, i) => s("text", { x: left - 8, y: 26 + i * cell + 21, "text-anchor": "end" }, `${short(text)} ${i + 1}`)),
    sentences.map((_, i) => s("text", { class: "quiet", x: left + i * cell + cell / 2, y: 16, "text-anchor": "middle" }, i + 1)),
    matrix.flatMap((row, i) => row.map((value, j) => s("g", {},
      s("title", {}, `${sentences[i]} / ${sentences[j]}: ${number(value)}`),
      s("rect", { x: left + j * cell, y: 26 + i * cell, width: cell, height: cell, class: value < 0 ? "less" : "more", "fill-opacity": value === null ? 0 : 0.6 * Math.min(1, Math.abs(value)) }),
      s("text", { x: left + j * cell + cell / 2, y: 26 + i * cell + cell / 2 + 4, "text-anchor": "middle", class: "quiet cell" }, i === j ? "" : number(value, 2))))));
}

export async function compare({ about, parameters, go }) {
  const sentences = parameters.getAll("s").filter(Boolean);
  const head = [h("h1", {}, "Compare meanings"), h("p", { class: "lead" }, "How near two sentences are, by each way to compose them: the cosine of what they mean."), form(sentences, go)];
  if (sentences.length < 2) {
    const pairs = about.pairs.map((pair) => link("compare", { s: pair }, pair.join(" / ")));
    return [...head, sentences.length ? note("Give at least two sentences.") : h("div", { class: "chips" }, pairs)];
  }
  let found;
  try {
    found = await ask("compare", { s: sentences });
  } catch (error) {
    return [...head, problem(error.message)];
  }
  const texts = found.sentences.map((sentence) => sentence.text);
  const swaps = found.sentences.flatMap((sentence) => sentence.swapped.map((other) => link("compare", { s: [sentence.text, other] }, `${sentence.text} ⇄ ${other}`)));
  const rows = found.methods.map((method) => ({ name: method.name, method: method.title, cosine: method.matrix[0][1], notes: method.notes.join(" ") }));
  const many = texts.length > 2;
  // The same remark on many methods is said once.
  const remarks = new Map();
  for (const row of rows) {
    const common = row.notes.replace(new RegExp(`^${row.name}\\b`), "…");
    remarks.set(common, [...(remarks.get(common) ?? []), row.method]);
  }
  const said = (row) => [...remarks].find(([, methods]) => methods.includes(row.method))[1][0] === row.method ? row.notes : row.notes && "likewise";
  const pictures = many ? found.methods.filter((method) => method.matrix.some((row) => row.some((value) => value !== null))).map((method) => {
    const picture = heat(texts, method.matrix, `${method.title}: all pairs`);
    return sheet(method.title, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": method.title }, picture), method.notes.map(note),
      saves(`compare-${method.name}`, { svg: () => picture, rows: () => method.matrix.map((row, i) => ({ sentence: texts[i], ...Object.fromEntries(row.map((value, j) => [texts[j], value])) })) }));
  }) : [];
  return [
    ...head,
    swaps.length ? h("div", { class: "chips", role: "group", "aria-label": "with arguments swapped" }, swaps) : null,
    found.sentences.filter((sentence) => sentence.error).map((sentence) => problem(`${sentence.text}: ${sentence.error}`)),
    h("div", { class: "sheets" },
      many ? pictures : wideSheet(`${texts[0]} / ${texts[1]}`,
        table(["method", { text: "cosine", number: true }, "", "remarks"], rows.map((row) => [row.method, number(row.cosine), row.cosine === null ? "" : meter(row.cosine), said(row)]), "all methods"),
        saves("compare", { rows: () => rows, data: () => found })),
      wideSheet("The sentences", h("ul", {}, found.sentences.map((sentence) => h("li", {}, link("compose", { s: sentence.text }, sentence.text), sentence.phrase ? [" ", h("span", { class: "term" }, sentence.phrase)] : null))))),
  ];
}
