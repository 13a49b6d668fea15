// Word: its neighbours and contexts, and for a verb or adjective what was learned of what it does.

import { ask } from "../api.js";
import { bars, curve } from "../charts.js";
import { field } from "../complete.js";
import { h, link, meter, note, number, problem, sheet, table, whole, wideSheet, within } from "../dom.js";
import { saves } from "../save.js";
import { phraseLink } from "./sentences.js";

function form(word, go) {
  const element = h("form", { class: "ask" }, field("w", "Word", word, { whole: true, placeholder: "chase-v" }), h("button", { class: "main" }, "Look"));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("word", { w: new FormData(element).get("w").trim() });
  });
  return element;
}

const facts = (rows) => h("dl", {}, rows.filter(([, value]) => value !== "").map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
const wordLink = (label) => link("word", { w: label }, label);
const part = (title, ...content) => h("div", {}, h("h3", {}, title), ...content);

function level(word, found) {
  const name = `generalised cross-validation: ${found.title}`;
  const picture = found.curve.length > 2 ? curve(found.curve, found.lambda, name) : null;
  return part(found.title, h("p", {}, found.text), picture,
    picture ? saves(`gcv-${word}`, { svg: () => picture, rows: () => found.curve.map(([lambda, error]) => ({ lambda, error })) }) : null);
}

function singular(word, values) {
  const picture = bars(values, "singular values");
  return part("Singular values", h("p", {}, `The ${values.length} largest; the largest is ${number(values[0])}.`), picture,
    saves(`singular-${word}`, { svg: () => picture, rows: () => values.map((value, i) => ({ number: i + 1, value })) }));
}

function effects(about, learned) {
  const cosines = (effect) => effect.arguments.map((argument) => number(argument.similarity, 2)).join(" / ");
  const names = learned.arguments.map((place) => place.name).join(" / ");
  return part("What it does to its typical arguments",
    table(["phrase", { text: `cosine with ${names}`, number: true }, "nearest words to the result"], learned.effects.map((effect) => [
      phraseLink(about, effect.label, effect.display), cosines(effect), effect.nearest.flatMap((near, i) => [i ? ", " : "", wordLink(near.label)])])));
}

/** The functions nearest to this one: compared on demand, for there may be thousands. */
function similar(word, learned) {
  if (!learned.others) return null;
  const place = h("div", {}), button = h("button", { type: "button" }, `Compare with the ${whole(learned.others)} others`);
  const show = (found) => place.replaceChildren(...[
    found.compared < found.others ? h("p", { class: "lead", role: "status" }, `Compared with ${whole(found.compared)} of ${whole(found.others)} …`) : null,
    table(["word", { text: "cosine", number: true }, ""], found.similar.map((item) => [wordLink(item.label), number(item.similarity), meter(item.similarity)]), "by the angle between the tensors"),
    saves(`functions-near-${word}`, { rows: () => found.similar, data: () => found }),
  ].filter(Boolean));
  button.addEventListener("click", async () => {
    place.replaceChildren(h("p", { class: "lead", role: "status" }, "Comparing …"));
    try {
      let found;
      do {
        found = await ask("word/similar", { w: word, pattern: learned.pattern });
        show(found);
      } while (found.compared < found.others);
    } catch (error) {
      place.replaceChildren(problem(error.message));
    }
  });
  place.append(button);
  return part("Nearest functions", place);
}

function functionSheet(about, word, learned) {
  return wideSheet(`As a function of type ${learned.type}`,
    facts(learned.facts),
    h("div", { class: "sheets" },
      learned.levels.map((one) => level(`${word}-${learned.pattern}`, one)),
      learned.singular.length ? singular(`${word}-${learned.pattern}`, learned.singular) : null,
      learned.groups.length ? part(`Largest groups`, table([learned.arguments[0]?.name ?? "argument", { text: "examples", number: true }], learned.groups.map((group) => [wordLink(group.label), whole(group.examples)]), "seen with most others")) : null,
      learned.arguments.map((place) => part(`Typical ${place.name}s`, table(["word", { text: "found", number: true }], place.typical.map((item) => [wordLink(item.label), whole(item.frequency)])))),
      similar(word, learned)),
    learned.effects.length ? effects(about, learned) : null,
    saves(`function-${word}-${learned.pattern}`, { data: () => learned }));
}

export async function word({ about, parameters, go }) {
  const asked = parameters.get("w") ?? "";
  const head = [h("h1", {}, "Look at a word"), form(asked, go)];
  if (!asked) return [...head, h("p", { class: "lead" }, "A word with the letter of its class, n, v, a or r. Some to begin with:"), h("div", { class: "chips" }, about.words_to_try.map(wordLink))];
  const found = await within(ask("word", { w: asked }), head);
  return [
    ...head,
    h("h2", { class: "shown" }, found.label),
    h("p", { class: "lead" }, found.frequency === null ? "" : `Found ${whole(found.frequency)} times. `, found.forms.length ? `As: ${found.forms.join(", ")}. ` : "",
      link("map", { w: [found.label, ...found.neighbours.map((near) => near.label)] }, "On the map"), about.corpus ? [" · ", link("sentences", { phrase: found.label }, "In sentences")] : null),
    h("div", { class: "sheets" },
      sheet("Neighbours", found.neighbours.length ? table(["word", { text: "cosine", number: true }, ""], found.neighbours.map((near) => [wordLink(near.label), number(near.similarity), meter(near.similarity)]), "nearest first") : note("It has no vector of its own."),
        saves(`neighbours-${found.label}`, { rows: () => found.neighbours, data: () => found })),
      found.contexts.length ? sheet("Weightiest contexts", table(["context", { text: "weight", number: true }], found.contexts.map((context) => [context.label, number(context.weight, 2)]), "words found beside it more often than by chance"), saves(`contexts-${found.label}`, { rows: () => found.contexts, data: () => found.contexts })) : null,
      found.phrases.length ? sheet("Its phrases", table(["phrase", { text: "found", number: true }], found.phrases.map((phrase) => [phraseLink(about, phrase.label, phrase.display), whole(phrase.frequency)]), "the most frequent first"), saves(`phrases-${found.label}`, { rows: () => found.phrases, data: () => found.phrases })) : null,
      found.functions.map((learned) => functionSheet(about, found.label, learned))),
  ];
}
