// The pages and their addresses: every view is a page with parameters, drawn from what the server answers.

import { ask } from "./api.js";
import { address, h, problem } from "./dom.js";
import { compare } from "./views/compare.js";
import { compose } from "./views/compose.js";
import { experiment } from "./views/experiment.js";
import { map } from "./views/map.js";
import { word } from "./views/word.js";

const PAGES = { compose: ["Compose", compose], compare: ["Compare", compare], word: ["Word", word], map: ["Map", map], experiment: ["Experiment", experiment] };
const page = document.getElementById("page");
const status = document.getElementById("status");
let about = null;
let drawn = 0;

export function go(name, parameters, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"]({}, "", address(name, parameters));
  return draw();
}

function bar(current) {
  document.getElementById("pages").replaceChildren(...Object.entries(PAGES)
    .filter(([name]) => name !== "experiment" || about.experiment)
    .map(([name, [title]]) => h("a", { href: `/${name}`, "aria-current": name === current ? "page" : null }, title)));
  document.getElementById("run").textContent = about.title;
}

async function draw() {
  const mine = (drawn += 1);
  const name = location.pathname.slice(1) || "compose";
  const parameters = new URLSearchParams(location.search);
  parameters.delete("token");
  status.textContent = "working …";
  let content;
  try {
    about ??= await ask("about");
    bar(name);
    if (!PAGES[name]) throw new Error(`There is no page ${name}: choose one above.`);
    document.title = `${PAGES[name][0]} – composita`;
    content = await PAGES[name][1]({ about, parameters, go });
  } catch (error) {
    content = [h("h1", {}, PAGES[name]?.[0] ?? "Nothing here"), problem(error.message)];
  }
  if (mine !== drawn) return;
  page.replaceChildren(...[content].flat());
  page.dataset.ready = location.pathname + location.search;
  status.textContent = "";
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
