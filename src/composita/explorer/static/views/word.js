// Word: its neighbours and contexts, and for a verb or adjective what was learned of what it does.

import { ask } from "../api.js";
import { bars, curve } from "../charts.js";
import { field } from "../complete.js";
import { h, link, meter, note, number, problem, sheet, table, whole, wideSheet } from "../dom.js";
import { saves } from "../save.js";
import { phraseLink } from "./concordance.js";

function form(word, go) {
  const element = h("form", { class: "ask" }, field("w", "Word", word, { whole: true, placeholder: "chase-v" }), h("button", { class: "main" }, "Look"));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("word", { w: new FormData(element).get("w").trim() });
  });
  return element;
}

const facts = (rows) => table(["", ""], rows.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [name, String(value)]));

function functionSheet(about, learned) {
  return wideSheet(`As a function of type ${learned.type}`,
    learned.facts.length ? facts(learned.facts) : null,
    h("div", { class: "sheets" },
      learned.levels.map((level) => h("div", {}, h("h3", {}, level.title), h("p", {}, level.text), level.curve.length > 2 ? curve(level.curve, level.lambda, `generalised cross-validation: ${level.title}`) : null)),
      learned.singular.length ? h("div", {}, h("h3", {}, "Singular values"), bars(learned.singular, "singular values")) : null,
      learned.arguments.map((place) => h("div", {}, h("h3", {}, `Typical ${place.name}s`), table(["word", { text: "found", number: true }], place.typical.map((item) => [link("word", { w: item.label }, item.label), whole(item.frequency)])))),
      learned.effects.length ? h("div", {}, h("h3", {}, "What it does to its typical arguments"), table(["phrase", "nearest words"], learned.effects.map((effect) => [phraseLink(about, effect.label, effect.display), effect.nearest.flatMap((near, i) => [i ? ", " : "", link("word", { w: near.label }, near.label)])]))) : null,
      learned.similar.length ? h("div", {}, h("h3", {}, "Nearest functions"), table(["word", { text: "cosine", number: true }, ""], learned.similar.map((item) => [link("word", { w: item.label }, item.label), number(item.similarity), meter(item.similarity)]), "by the angle between the tensors")) : null));
}

export async function word({ about, parameters, go }) {
  const asked = parameters.get("w") ?? "";
  const head = [h("h1", {}, "Look at a word"), form(asked, go)];
  if (!asked) return [...head, h("div", { class: "chips" }, about.words_to_try.map((label) => link("word", { w: label }, label)))];
  let found;
  try {
    found = await ask("word", { w: asked });
  } catch (error) {
    return [...head, problem(error.message)];
  }
  return [
    ...head,
    h("h2", {}, found.label),
    h("p", { class: "lead" }, found.frequency === null ? "" : `Found ${whole(found.frequency)} times. `, found.forms.length ? `As: ${found.forms.join(", ")}.` : "", " ", link("map", { w: [found.label, ...found.neighbours.map((near) => near.label)] }, "On the map")),
    h("div", { class: "sheets" },
      sheet("Neighbours", found.neighbours.length ? table(["word", { text: "cosine", number: true }, ""], found.neighbours.map((near) => [link("word", { w: near.label }, near.label), number(near.similarity), meter(near.similarity)]), "nearest first") : note("It has no vector of its own."),
        saves(`neighbours-${found.label}`, { rows: () => found.neighbours, data: () => found })),
      found.contexts.length ? sheet("Weightiest contexts", table(["context", { text: "weight", number: true }], found.contexts.map((context) => [context.label, number(context.weight, 2)]), "words found beside it more often than by chance"), saves(`contexts-${found.label}`, { rows: () => found.contexts })) : null,
      found.phrases.length ? sheet("Its phrases", table(["phrase", { text: "found", number: true }], found.phrases.map((phrase) => [phraseLink(about, phrase.label, phrase.display), whole(phrase.frequency)]), "the most frequent first")) : null,
      found.functions.map((learned) => functionSheet(about, learned))),
  ];
}
