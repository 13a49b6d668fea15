// The pages and their addresses: every view is a page with parameters, drawn from what the server answers.

import { ask, isLeft, leave } from "./api.js";
import { address, h, problem } from "./dom.js";
import { compare } from "./views/compare.js";
import { compose } from "./views/compose.js";
import { experiment } from "./views/experiment.js";
import { map } from "./views/map.js";
import { sentences } from "./views/sentences.js";
import { word } from "./views/word.js";

const PAGES = new Map([
  ["compose", ["Compose", compose]], ["compare", ["Compare", compare]], ["word", ["Word", word]], ["map", ["Map", map]],
  ["sentences", ["Sentences", sentences]], ["experiment", ["Experiment", experiment]],
]);
const AGAIN = 3000;
const page = document.getElementById("page");
const status = document.getElementById("status");
let about = null;
let drawn = 0;

export function go(name, parameters) {
  history.pushState({}, "", address(name, parameters));
  return draw();
}

function bar(current) {
  const possible = { sentences: about.corpus, experiment: about.experiment };
  document.getElementById("pages").replaceChildren(...[...PAGES].filter(([name]) => possible[name] ?? true)
    .map(([name, [title]]) => h("a", { href: `/${name}`, "aria-current": name === current ? "page" : null }, title)));
  document.getElementById("run").textContent = about.title;
}

function named(title, parameters) {
  const shown = [...["s", "w", "phrase"].flatMap((name) => parameters.getAll(name)), parameters.get("benchmark")];
  return [shown.filter(Boolean).join(", ").slice(0, 80), title, "composita"].filter(Boolean).join(" – ");
}

async function content(name, parameters) {
  const [title, view] = PAGES.get(name) ?? ["Nothing here"];
  try {
    about ??= await ask("about");
    bar(name);
    document.title = named(title, parameters);
    if (!view) throw new Error(`There is no page ${name}: choose one above.`);
    return await view({ about, parameters, go });
  } catch (error) {
    if (isLeft(error)) throw error;
    // A run that cannot be read now can perhaps be read soon, as when it is still being made.
    if (!about) setTimeout(() => { if (!about) draw(); }, AGAIN);
    // The form stays, so that what was wrong can be put right.
    return [error.shown ?? h("h1", {}, about ? title : "Nothing can be shown now"), problem(error.message), error.behind];
  }
}

/** Where the keyboard was, by the name of the field, so that it can be there again on the new page. */
function focused() {
  const element = document.activeElement;
  if (!element?.name || !page.contains(element)) return null;
  const alike = [...page.querySelectorAll("[name]")].filter((other) => other.name === element.name);
  return { name: element.name, place: alike.indexOf(element) };
}

async function draw() {
  const mine = (drawn += 1);
  leave();
  const name = location.pathname.slice(1) || "compose";
  status.textContent = "working …";
  let found;
  try {
    found = await content(name, new URLSearchParams(location.search));
  } catch {
    return; // the page was left
  }
  if (mine !== drawn) return;
  const before = focused(), inside = page.contains(document.activeElement);
  page.replaceChildren(...[found].flat(Infinity).filter(Boolean));
  page.dataset.ready = location.pathname + location.search;
  status.textContent = "";
  if (before) [...page.querySelectorAll("[name]")].filter((other) => other.name === before.name)[before.place]?.focus({ preventScroll: true });
  else if (inside) page.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a[href^='/']");
  if (!anchor || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const href = anchor.getAttribute("href");
  if (href.startsWith("/api/") || href.startsWith("/openapi") || anchor.hasAttribute("download")) return;
  event.preventDefault();
  history.pushState({}, "", href);
  draw().then(() => { window.scrollTo(0, 0); page.focus({ preventScroll: true }); });
});
window.addEventListener("popstate", draw);
draw();
