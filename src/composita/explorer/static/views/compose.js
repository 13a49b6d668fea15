// Compose: from a sentence to its derivation, its vector's neighbours, and the attested phrases that make it.

import { ask } from "../api.js";
import { field } from "../complete.js";
import { address, h, later, link, meter, note, number, sheet, table, whole, wideSheet, within } from "../dom.js";
import { saves } from "../save.js";
import { tree } from "../tree.js";
import { phraseLink } from "./sentences.js";

const LEAD = "Type a sentence of words that the lexicon knows: its meaning is computed from what its verbs and adjectives do to their arguments.";

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

const examples = (about) => (about.examples.length ? [h("p", { class: "lead" }, "Some to begin with:"),
  h("div", { class: "chips" }, about.examples.map((sentence) => link("compose", { s: sentence }, sentence)))] : null);

const nearest = (title, name, found, text) => sheet(title,
  found.length ? table([name, { text: "cosine", number: true }, ""], found.map((item) => [text(item), number(item.similarity), meter(item.similarity)]), `${title}, nearest first`) : note("There are none to compare with."),
  saves(name, { rows: () => found, data: () => found }));

const words = (labels) => labels.flatMap((label, i) => [i ? ", " : "", link("word", { w: label }, label)]);

function derivation(found, sentence, method, go) {
  const picture = found.tree ? tree(found.tree, `derivation of ${sentence}`) : null;
  const readings = found.readings.length > 1 ? [h("p", { class: "lead" }, `It can be read in ${found.readings.length} ways, the likeliest first:`),
    h("div", { class: "chips", role: "group", "aria-label": "readings" }, found.readings.map((reading, i) => h("button", {
      type: "button", "aria-pressed": String(i === found.reading), onclick: () => go("compose", { s: sentence, method, reading: i }),
    }, `${i + 1}: ${reading.term}`)))] : null;
  return wideSheet("Derivation", readings, h("p", { class: "term" }, found.term, found.type ? ` : ${found.type}` : ""),
    picture ? h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "derivation tree" }, picture) : null,
    found.steps.length ? table(["step", "type", "shape", "nearest words"], found.steps.map((step) => [h("span", { class: "term" }, step.text), step.type, step.shape, words(step.nearest)]), `The contraction, step by step, by ${found.title}: ${found.formula}`) : null,
    saves("derivation", {
      svg: picture ? () => picture : null, rows: () => found.steps.map((step) => ({ ...step, nearest: step.nearest.join(" ") })),
      data: () => ({ sentence, method: found.method, term: found.term, type: found.type, tree: found.tree, steps: found.steps }),
    }));
}

function explanation(about, found) {
  const title = "Why this vector";
  if (!found.explanation.length) return found.unexplained ? wideSheet(title, note(found.unexplained)) : null;
  const largest = Math.max(...found.explanation.map((part) => Math.abs(part.share))) || 1;
  return wideSheet(title,
    h("p", { class: "lead" }, found.explained, about.corpus ? " Each phrase leads to the sentences of the corpus in which it was found." : ""),
    table(["part", { text: "weight", number: true }, { text: "share", number: true }, "", { text: "found", number: true }],
      found.explanation.map((part) => [part.frequency === null ? part.display : phraseLink(about, part.label, part.display), number(part.weight, 4), `${number(part.share * 100, 1)} %`, meter(part.share / largest), whole(part.frequency)]), "the weightiest first"),
    saves("explanation", { rows: () => found.explanation, data: () => found.explanation }));
}

export async function compose({ about, parameters, go }) {
  const sentence = parameters.get("s") ?? "", method = parameters.get("method") ?? about.method, reading = parameters.get("reading");
  const head = [h("h1", {}, "Compose a meaning"), h("p", { class: "lead" }, LEAD), form(about, sentence, method, go)];
  if (!sentence) return [...head, examples(about)];
  const found = await within(ask("compose", { s: sentence, method, reading }), head, examples(about));
  const swapped = address("compare", { s: [sentence, ...found.swapped] });
  return [
    ...head,
    found.notes.map(note),
    h("div", { class: "sheets" },
      derivation(found, sentence, method, go),
      nearest("Nearest words", "word", found.words, (item) => link("word", { w: item.label }, item.label)),
      nearest("Nearest attested phrases", "phrase", found.phrases, (item) => phraseLink(about, item.label, item.display)),
      found.steps.length ? later("Why this vector", ask("explain", { s: sentence, method, reading }), (why) => explanation(about, why)) : null),
    h("p", { class: "onward" }, h("a", { href: swapped }, found.swapped.length ? "Compare with its arguments swapped" : "Compare with another sentence"), " · ",
      link("map", { w: [sentence, ...found.words.map((near) => near.label)] }, "See it on the map")),
  ];
}
