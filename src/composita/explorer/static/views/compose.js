// Compose: from a sentence to its derivation, its vector's neighbours, and the attested phrases that make it.

import { ask } from "../api.js";
import { field } from "../complete.js";
import { address, h, link, meter, note, number, problem, sheet, table, wideSheet } from "../dom.js";
import { saves } from "../save.js";
import { tree } from "../tree.js";
import { phraseLink } from "./concordance.js";

function methodChoice(about, chosen) {
  return h("label", {}, "Method", h("select", { name: "method" }, about.methods.map((method) => h("option", { value: method.name, selected: method.name === chosen }, method.title))));
}

function form(about, sentence, method, go) {
  const element = h("form", { class: "ask" }, field("s", "Sentence", sentence, { placeholder: about.examples[0] ?? "" }), methodChoice(about, method), h("button", { class: "main" }, "Compose"));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData(element);
    go("compose", { s: data.get("s").trim(), method: data.get("method") });
  });
  element.querySelector("select").addEventListener("change", () => { if (element.elements.s.value.trim()) element.requestSubmit(); });
  return element;
}

const examples = (about) => h("div", { class: "chips" }, about.examples.map((sentence) => link("compose", { s: sentence }, sentence)));

const nearest = (title, name, found, text) => sheet(title,
  found.length ? table([name, { text: "cosine", number: true }, ""], found.map((item) => [text(item), number(item.similarity), meter(item.similarity)]), `${title}, nearest first`) : note("There are none to compare with."),
  saves(name, { rows: () => found, data: () => found }));

function explanation(about, found) {
  if (!found.explanation.length) return found.unexplained ? wideSheet("Why this vector", note(found.unexplained)) : null;
  return wideSheet("Why this vector",
    h("p", { class: "lead" }, found.explained),
    table(["attested phrase", { text: "weight", number: true }, "", { text: "found", number: true }],
      found.explanation.map((part) => [phraseLink(about, part.label, part.display), number(part.weight, 4), meter(part.share), part.frequency ?? "–"]), "the weightiest first"),
    saves("explanation", { rows: () => found.explanation, data: () => found.explanation }));
}

export async function compose({ about, parameters, go }) {
  const sentence = parameters.get("s") ?? "", method = parameters.get("method") ?? about.method;
  const head = [h("h1", {}, "Compose a meaning"), h("p", { class: "lead" }, "Type a sentence of words that the lexicon knows: its meaning is computed from what its verbs and adjectives do to their arguments."), form(about, sentence, method, go)];
  if (!sentence) return [...head, examples(about)];
  let found;
  try {
    found = await ask("compose", { s: sentence, method, reading: parameters.get("reading") });
  } catch (error) {
    return [...head, problem(error.message), examples(about)];
  }
  const picture = found.tree ? tree(found.tree, `derivation of ${sentence}`) : null;
  const readings = found.readings.length > 1 ? h("div", { class: "chips", role: "group", "aria-label": "readings" }, found.readings.map((reading, i) => h("button", {
    type: "button", "aria-pressed": String(i === found.reading), onclick: () => go("compose", { s: sentence, method, reading: i }),
  }, `${i + 1}: ${reading.term}`))) : null;
  return [
    ...head,
    found.notes.map(note),
    h("div", { class: "sheets" },
      wideSheet("Derivation", readings, h("p", { class: "term" }, found.term, found.type ? ` : ${found.type}` : ""),
        picture ? h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "derivation tree" }, picture) : null,
        found.steps.length ? table(["step", "type", "shape"], found.steps.map((step) => [h("span", { class: "term" }, step.text), step.type, step.shape]), "the contraction, step by step") : null,
        saves("derivation", { svg: picture ? () => picture : null, data: () => ({ term: found.term, tree: found.tree, steps: found.steps }) })),
      nearest("Nearest words", "word", found.words, (item) => link("word", { w: item.label }, item.label)),
      nearest("Nearest attested phrases", "phrase", found.phrases, (item) => phraseLink(about, item.label, item.display)),
      explanation(about, found)),
    h("p", {}, h("a", { href: address("compare", { s: [sentence, ...found.swapped] }) }, found.swapped.length ? "Compare with its arguments swapped" : "Compare with another sentence")),
  ];
}
