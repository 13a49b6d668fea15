// Sentences of the corpus in which a phrase or a word was found.

import { ask } from "../api.js";
import { address, h, link, note, wideSheet, within } from "../dom.js";
import { saves } from "../save.js";

const FEW = 20, MANY = 200;

const line = (sentence) => h("li", {}, sentence.tokens.flatMap((token, i) => [
  i ? " " : "",
  token.role ? h("mark", { class: token.role === "head" ? "head" : null, title: token.role }, token.text) : token.text,
]));

const asRow = (sentence) => {
  const having = (role) => sentence.tokens.filter((token) => token.role === role).map((token) => token.text).join(" ");
  return { shard: sentence.shard, sentence: sentence.sentence, head: having("head"), arguments: having("argument"), text: sentence.tokens.map((token) => token.text).join(" ") };
};

function form(phrase, go) {
  const element = h("form", { class: "ask" },
    h("label", { class: "wide" }, "Phrase or word", h("input", { name: "phrase", value: phrase, maxlength: 300, placeholder: "chase-v(cat-n, dog-n)", spellcheck: "false", autocapitalize: "none" })),
    h("button", { class: "main" }, "Find"));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("sentences", { phrase: new FormData(element).get("phrase").trim() });
  });
  return element;
}

export async function sentences({ parameters, go }) {
  const phrase = parameters.get("phrase") ?? "", n = Number(parameters.get("n")) || FEW;
  const head = [h("h1", {}, "Sentences of the corpus"), form(phrase, go)];
  if (!phrase) return [...head, note("Give a phrase as it is written in explanations: the verb, and in parentheses its arguments, the object first.")];
  const found = await within(ask("concordance", { phrase, n }), head);
  const full = found.lines.length === n && n < MANY;
  return [
    ...head,
    h("div", { class: "sheets" }, wideSheet(found.display,
      h("p", { class: "lead" }, h("span", { class: "term" }, found.phrase), " · ", link("compose", { s: found.phrase }, "compose it")),
      found.lines.length ? h("ol", { class: "concordance" }, found.lines.map(line)) : note("No sentence was found."),
      found.more ? note(found.more) : null,
      full ? h("p", {}, h("a", { href: address("sentences", { phrase, n: MANY }) }, `Show up to ${MANY}`)) : null,
      saves("sentences", { rows: () => found.lines.map(asRow), data: () => found }))),
  ];
}

/** A phrase that leads to its sentences, where the corpus is at hand. */
export const phraseLink = (about, label, display) => (about.corpus ? link("sentences", { phrase: label }, display) : display);
