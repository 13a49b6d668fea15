// Experiment: the table with intervals, each score's items, and the verbs one by one.

import { ask } from "../api.js";
import { frame, scale, ticks } from "../charts.js";
import { drawing, h, link, note, number, s, table, whole, wideSheet } from "../dom.js";
import { saves } from "../save.js";

const RHO = ["rho_individual", "rho_mean"];

/** Intervals of all methods of a benchmark, on one axis. */
function intervals(rows, kind, ceiling, name) {
  const left = 250, right = 640, top = 14, row = 24, bottom = top + rows.length * row;
  const ends = rows.flatMap((r) => [r[kind], r[`${kind}_low`], r[`${kind}_high`]]).filter(Number.isFinite);
  const low = Math.min(0, ...ends), high = Math.max(0.1, ceiling ?? 0, ...ends);
  const x = scale(low, high, left, right);
  return drawing(680, bottom + 44, name, { class: "drawing chart" },
    frame(x, () => bottom, { left, right, top, bottom, xticks: ticks(low, high, 6), yticks: [], xname: "ρ", yname: "", digits: 2 }),
    ceiling ? [s("path", { class: "grid", d: `M${x(ceiling)} ${top}V${bottom}` }), s("text", { class: "quiet", x: x(ceiling), y: top - 2, "text-anchor": "middle" }, "ceiling")] : null,
    rows.map((r, i) => {
      const y = top + i * row + row / 2;
      const known = Number.isFinite(r[kind]);
      return [s("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, `${r.method} · ${r.space}`),
        known && Number.isFinite(r[`${kind}_low`]) ? s("path", { class: "interval", d: `M${x(r[`${kind}_low`])} ${y}H${x(r[`${kind}_high`])}` }) : null,
        known ? s("circle", { class: "mark", cx: x(r[kind]), cy: y, r: 4 }, s("title", {}, `${r.method}, ${r.space}: ${number(r[kind])}`)) : null];
    }));
}

function scatter(found) {
  const shown = found.items.filter((item) => Number.isFinite(item.predicted));
  const box = { left: 56, right: 680, top: 12, bottom: 400 };
  const [px, py] = [shown.map((item) => item.predicted), shown.map((item) => item.rated)];
  const x = scale(Math.min(...px), Math.max(...px), box.left + 8, box.right - 8), y = scale(Math.min(...py), Math.max(...py), box.bottom - 8, box.top + 8);
  return drawing(700, 440, "predicted against rated similarity", { class: "drawing chart", role: "group" },
    frame(x, y, { ...box, xticks: ticks(Math.min(...px), Math.max(...px)), yticks: ticks(Math.min(...py), Math.max(...py)), xname: "predicted: cosine", yname: "rated: mean", digits: 2 }),
    shown.map((item) => s("a", { href: item.href, "aria-label": `${item.name}: predicted ${number(item.predicted)}, rated ${number(item.rated, 2)}` },
      s("circle", { class: item.group === "high" ? "dot other" : "dot", cx: x(item.predicted), cy: y(item.rated), r: 4.5 }, s("title", {}, `${item.name}\npredicted ${number(item.predicted)}, rated ${number(item.rated, 2)}`)))));
}

async function oneScore(parameters) {
  const chosen = Object.fromEntries(["benchmark", "method", "space"].map((name) => [name, parameters.get(name)]));
  const found = await ask("experiment/items", chosen);
  for (const item of found.items) item.href = `/compare?${new URLSearchParams([["s", item.left], ["s", item.right]])}`;
  const picture = scatter(found);
  return wideSheet(`${found.title}`,
    h("p", { class: "lead" }, found.text), picture,
    saves(`${chosen.benchmark}-${chosen.method}`, { svg: () => picture, rows: () => found.items, data: () => found }),
    h("h3", {}, "By verb"),
    table(["head", { text: "items", number: true }, { text: "ρ", number: true }], found.groups.map((group) => [group.head, whole(group.items), number(group.rho)]), "ρ within the items of one verb"),
    h("details", {}, h("summary", {}, `All ${whole(found.items.length)} items`), table(["item", { text: "predicted", number: true }, { text: "rated", number: true }], found.items.map((item) => [h("a", { href: item.href }, item.name), number(item.predicted), number(item.rated, 2)]), "each opens the comparison")));
}

export async function experiment({ about, parameters }) {
  const found = await ask("experiment");
  const kind = parameters.get("rho") === "mean" ? RHO[1] : RHO[0];
  const chosen = parameters.get("method") ? [await oneScore(parameters)] : [];
  const convention = h("div", { class: "chips", role: "group", "aria-label": "convention" }, RHO.map((name) => link("experiment", { rho: name === RHO[1] ? "mean" : "" }, name === RHO[0] ? "individual ratings" : "mean ratings")));
  return [
    h("h1", {}, "Experiment"), h("p", { class: "lead" }, "Spearman's ρ between the cosines and the ratings of people, with 95 % intervals over items. Individual and mean ratings give different figures and are never mixed."),
    convention, found.notes.map(note),
    h("div", { class: "sheets" }, chosen, found.benchmarks.map((benchmark) => {
      const rows = found.rows.filter((row) => row.benchmark === benchmark.name);
      const picture = intervals(rows.filter((row) => Number.isFinite(row[kind])), kind, benchmark[kind === RHO[0] ? "ceiling_individual" : "ceiling_mean"], `${benchmark.name}: all methods`);
      return wideSheet(`${benchmark.name}, ${kind}`, picture,
        table(["method", "space", { text: kind, number: true }, "95 %", { text: "covered", number: true }], rows.map((row) => [
          Number.isFinite(row[kind]) ? link("experiment", { benchmark: row.benchmark, method: row.method, space: row.space, rho: parameters.get("rho") }, row.method) : row.method,
          row.space, number(row[kind]), Number.isFinite(row[`${kind}_low`]) ? `${number(row[`${kind}_low`], 2)} … ${number(row[`${kind}_high`], 2)}` : "–", Number.isFinite(row[kind]) ? `${whole(row.covered)} of ${whole(row.items)}` : "–"]), benchmark.text),
        saves(benchmark.name, { svg: () => picture, rows: () => rows, data: () => ({ benchmark, rows }) }));
    })),
  ];
}
