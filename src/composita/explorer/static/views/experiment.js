// Experiment: the table with intervals, each score's items, and the verbs one by one.

import { ask } from "../api.js";
import { frame, scale, ticks } from "../charts.js";
import { address, drawing, h, link, meter, note, number, room, s, table, whole, wideSheet, within } from "../dom.js";
import { saves } from "../save.js";

const LEAD = "Spearman's ρ between the cosines and the ratings of people, with 95 % intervals over items. Individual and mean ratings give different figures and are never mixed. A method leads to its items.";
const RHO = ["rho_individual", "rho_mean"];

/** Intervals of all methods of a benchmark, on one axis. */
function intervals(rows, kind, ceiling, name) {
  const width = room(680), left = Math.min(250, 14 + 8 * Math.max(8, ...rows.map((r) => `${r.method} · ${r.space}`.length))), right = width - 40;
  const top = 18, row = 24, bottom = top + rows.length * row;
  const ends = rows.flatMap((r) => [r[kind], r[`${kind}_low`], r[`${kind}_high`]]).filter(Number.isFinite);
  const low = Math.min(0, ...ends), high = Math.max(0.1, ceiling ?? 0, ...ends);
  const x = scale(low, high, left, right);
  const upright = (value, text) => [s("path", { class: "grid", d: `M${x(value)} ${top}V${bottom}` }), text ? s("text", { class: "quiet", x: x(value), y: top - 6, "text-anchor": "middle" }, text) : null];
  return drawing(width, bottom + 44, name, { class: "drawing chart" },
    frame(x, () => bottom, { left, right, top, bottom, xticks: ticks(low, high, width < 500 ? 3 : 6), yticks: [], xname: "ρ", yname: "", digits: 2 }),
    ceiling ? upright(ceiling, "ceiling") : null, low < 0 ? upright(0) : null,
    rows.map((r, i) => {
      const y = top + i * row + row / 2;
      const known = Number.isFinite(r[kind]);
      return [s("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, `${r.method} · ${r.space}`),
        known && Number.isFinite(r[`${kind}_low`]) ? s("path", { class: "interval", d: `M${x(r[`${kind}_low`])} ${y}H${x(r[`${kind}_high`])}` }) : null,
        known ? s("circle", { class: "mark", cx: x(r[kind]), cy: y, r: 4 }, s("title", {}, `${r.method}, ${r.space}: ${number(r[kind])}`)) : null];
    }));
}

/** Predicted against rated: point at an item, or reach it by the keyboard, to read what it is; it opens its comparison. */
function scatter(found, head) {
  const shown = found.items.filter((item) => Number.isFinite(item.predicted) && Number.isFinite(item.rated));
  const width = room(700), box = { left: 56, right: width - 20, top: 12, bottom: 400 };
  const [px, py] = [shown.map((item) => item.predicted), shown.map((item) => item.rated)];
  const x = scale(Math.min(...px), Math.max(...px), box.left + 8, box.right - 8), y = scale(Math.min(...py), Math.max(...py), box.bottom - 8, box.top + 8);
  const about = (item) => `${item.name}: predicted ${number(item.predicted)}, rated ${number(item.rated, 2)}`;
  const reading = h("p", { class: "reading" }, "Point at an item to read what it is; it opens the comparison of its two phrases.");
  const say = (item) => () => { reading.textContent = about(item); };
  const kind = (item) => (!head ? "dot" : item.group === head ? "dot other" : "dot pale");
  const front = [...shown].sort((a, b) => (a.group === head) - (b.group === head));
  const picture = drawing(width, 440, "predicted against rated similarity", { class: "drawing chart", role: "group" },
    frame(x, y, { ...box, xticks: ticks(Math.min(...px), Math.max(...px), width < 500 ? 3 : 5), yticks: ticks(Math.min(...py), Math.max(...py)), xname: "predicted: cosine", yname: "rated: mean", digits: 2 }),
    front.map((item) => s("a", { href: item.href, "aria-label": about(item), onpointerenter: say(item), onfocus: say(item) },
      s("circle", { class: kind(item), cx: x(item.predicted), cy: y(item.rated), r: 4.5 }, s("title", {}, about(item))))));
  return [picture, reading];
}

async function oneScore(parameters) {
  const chosen = Object.fromEntries(["benchmark", "method", "space"].map((name) => [name, parameters.get(name)]));
  const found = await ask("experiment/items", chosen);
  for (const item of found.items) item.href = address("compare", { s: [item.left, item.right] });
  const head = found.groups.some((group) => group.head === parameters.get("head")) ? parameters.get("head") : "";
  const [picture, reading] = scatter(found, head);
  const name = `${chosen.benchmark}-${chosen.method}-${chosen.space}`, rho = parameters.get("rho");
  const items = found.items.filter((item) => !head || item.group === head);
  return wideSheet(found.title,
    h("p", { class: "lead" }, found.text, head ? [` Marked: ${head}. `, link("experiment", { ...chosen, rho }, "Mark none")] : null), picture, reading,
    saves(name, { svg: () => picture, rows: () => found.items, data: () => found }),
    h("h3", {}, "By verb"),
    table(["head", { text: "items", number: true }, { text: "ρ", number: true }, ""], found.groups.map((group) => [
      link("experiment", { ...chosen, rho, head: group.head }, group.head), whole(group.items), number(group.rho), group.rho === null ? "" : meter(group.rho)]), "ρ with mean ratings within the items of one head, where there are three or more; a head is marked above"),
    saves(`${name}-by-verb`, { rows: () => found.groups, data: () => found.groups }),
    h("details", { open: head !== "" }, h("summary", {}, head ? `The ${whole(items.length)} items of ${head}` : `All ${whole(items.length)} items`), table(["item", { text: "predicted", number: true }, { text: "rated", number: true }], items.map((item) => [h("a", { href: item.href }, item.name), number(item.predicted), number(item.rated, 2)]), "each opens the comparison")));
}

export async function experiment({ about, parameters }) {
  const head = [h("h1", {}, "Experiment"), h("p", { class: "lead" }, LEAD)];
  const found = await within(ask("experiment"), head);
  const kind = parameters.get("rho") === "mean" ? RHO[1] : RHO[0];
  const chosen = parameters.get("method") ? [await within(oneScore(parameters), head)] : [];
  const convention = h("div", { class: "chips", role: "group", "aria-label": "convention" }, RHO.map((name) => h("a", { href: address("experiment", { ...Object.fromEntries(parameters), rho: name === RHO[1] ? "mean" : "" }), "aria-current": name === kind ? "true" : null }, name === RHO[0] ? "individual ratings" : "mean ratings")));
  return [
    ...head,
    convention, found.notes.map(note),
    h("div", { class: "sheets" }, chosen, found.benchmarks.map((benchmark) => {
      const rows = found.rows.filter((row) => row.benchmark === benchmark.name);
      const picture = intervals(rows.filter((row) => Number.isFinite(row[kind])), kind, benchmark[kind === RHO[0] ? "ceiling_individual" : "ceiling_mean"], `${benchmark.name}: all methods`);
      return wideSheet(`${benchmark.name}, ${kind}`, picture,
        table(["method", "space", { text: kind, number: true }, "95 %", { text: "items", number: true }], rows.map((row) => [
          Number.isFinite(row[kind]) ? link("experiment", { benchmark: row.benchmark, method: row.method, space: row.space, rho: parameters.get("rho") }, row.method) : row.method,
          row.space, number(row[kind]), Number.isFinite(row[`${kind}_low`]) ? h("span", { class: "nowrap" }, `${number(row[`${kind}_low`], 2)} … ${number(row[`${kind}_high`], 2)}`) : "–", Number.isFinite(row[kind]) ? `${whole(row.covered)}/${whole(row.items)}` : "–"]), benchmark.text),
        saves(benchmark.name, { svg: () => picture, rows: () => rows, data: () => ({ benchmark, rows }) }));
    })),
  ];
}
