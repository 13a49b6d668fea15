// The sentences of the corpus in which a phrase was found, in a dialogue.

import { ask } from "../api.js";
import { h, note, problem } from "../dom.js";

const line = (sentence) => h("li", {}, sentence.tokens.flatMap((token, i) => [
  i ? " " : "",
  token.role ? h("mark", { class: token.role === "head" ? "head" : null, title: token.role }, token.text) : token.text,
]));

export async function showConcordance(label, display) {
  const body = h("div", {}, h("p", { class: "lead" }, "Reading the corpus …"));
  const dialog = h("dialog", { "aria-label": `sentences with ${display}` },
    h("h2", {}, display), h("p", {}, h("code", {}, label)), body,
    h("form", { method: "dialog" }, h("button", {}, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  try {
    const found = await ask("concordance", { phrase: label, n: 20 });
    body.replaceChildren(
      found.lines.length ? h("ul", { class: "concordance" }, found.lines.map(line)) : note("No sentence of the corpus was found within the time allowed."),
      found.more ? note(found.more) : "");
  } catch (error) {
    body.replaceChildren(problem(error.message));
  }
}

/** A phrase that opens its sentences, where the corpus is at hand. */
export const phraseLink = (about, label, display) => about.corpus
  ? h("button", { type: "button", class: "link", onclick: () => showConcordance(label, display) }, display)
  : display;
