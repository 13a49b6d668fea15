// Completion of the word that is being typed, from the words of the lexicon: a list that arrow keys and mouse can use.

import { ask } from "./api.js";
import { h } from "./dom.js";

let count = 0;

/** A field with completion; `whole` says whether it holds one word label rather than a sentence. */
export function field(name, label, value, { whole = false, placeholder = "" } = {}) {
  const id = `options-${(count += 1)}`;
  const list = h("ul", { class: "options", id, role: "listbox", "aria-label": `words for ${label}`, hidden: true });
  const input = h("input", {
    name, value, placeholder, autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 2000,
    role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": id,
  });
  let found = [], chosen = -1, running = null, timer = null;

  const current = () => (whole ? input.value : input.value.slice(0, input.selectionStart).match(/\S*$/)[0]);
  const close = () => {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (word) => {
    const text = whole ? word.label : word.form;
    if (whole) input.value = text;
    else {
      const end = input.selectionStart, start = end - current().length;
      input.value = `${input.value.slice(0, start)}${text} ${input.value.slice(end).trimStart()}`;
      input.setSelectionRange(start + text.length + 1, start + text.length + 1);
    }
    close();
  };
  const mark = (place) => {
    chosen = place;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === place)));
    if (place >= 0) {
      input.setAttribute("aria-activedescendant", list.children[place].id);
      list.children[place].scrollIntoView({ block: "nearest" });
    }
  };
  const show = (words) => {
    found = words;
    list.replaceChildren(...words.map((word, i) => h("li", {
      role: "option", id: `${id}-${i}`, "aria-selected": "false",
      onmousedown: (event) => { event.preventDefault(); take(word); },
    }, whole ? word.label : word.form, h("small", {}, whole ? word.kind : word.label))));
    list.hidden = words.length === 0;
    input.setAttribute("aria-expanded", String(words.length > 0));
    chosen = -1;
  };
  const look = async () => {
    running?.abort();
    const start = current().trim();
    if (!start) return close();
    running = new AbortController();
    try {
      show((await ask("complete", { q: start, n: 8, labels: whole ? 1 : "" }, running.signal)).words);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  };
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 90); });
  input.addEventListener("blur", () => setTimeout(close, 100));
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      clearTimeout(timer); // who chooses is not to be given another list meanwhile
      running?.abort();
      mark((chosen + step + found.length) % found.length);
    } else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) {
      event.preventDefault();
      take(found[chosen]);
    } else if (event.key === "Escape") close();
    else if (event.key === "Enter") close();
  });
  return h("div", { class: "wide field" }, h("label", {}, label, input), list);
}
