// What is decided: a promise and what it costs, every fact with its reasons, the owner's word on single ones, pictures.

import { directionOf, drawSentence } from "./card.js";
import { drawBins, drawChart, element, fetchJson, newKey, percent, put, sentenceOf } from "./draw.js";
import { announce, change, count, home, keep, kept, number, openTab, project, redraw } from "./project.js";
import { startRun } from "./runs.js";

const at = (id) => document.getElementById(id);
const ROWS = 50;
const START = { of: "candidates", part: "accepted", sort: "probability", down: "true", search: "", relation: "", by: "", page: "0" };
const HANDS = { person: "people", method: "the method", judges: "machine judges", oracle: "an oracle", constraint: "a constraint" };
// Where wrong facts are sought, what is found is taken out, and who says "false" agrees.
const SOUGHT = {
  true: { accepted: "accepted", rejected: "rejected", of: "Of the accepted facts, at least this share is true", true: "true", things: "candidates" },
  false: { accepted: "taken out", rejected: "kept", of: "Of the facts taken out, at least this share is wrong", true: "wrong", things: "facts" },
};
const MAKING = "What each promise costs is being worked out. One moment …";
const KEYS = { t: "true", f: "false", s: "unsure" };
const isBoth = () => project.options.goal === "both"; // then it is chosen which facts are shown: missing ones, or wrong ones
const isCheck = () => project.options.goal === "check" || (isBoth() && view.of === "facts");
const route = (name) => `${home}/${name}?of=${isBoth() ? view.of : "candidates"}`;
const words = () => SOUGHT[!isCheck()];
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
let view = { ...START };
let table = null;
let levels = null;
let asked = 0;
let seen = null; // which decision and answers the table is of
let worked = null; // which table the levels and pictures are of
let place = 0;   // the row that has the keys

export function showDecide() {
  const ready = Boolean(project.session) || project.accepted !== null;
  at("undecided").hidden = ready;
  for (const part of at("decide").querySelectorAll(".with-table")) part.hidden = !ready;
  if (!ready) return;
  at("kinds").hidden = !isBoth();
  showWords();
  at("promise").disabled = project.state === "running" || !levels;
  const state = JSON.stringify([project.session?.answers, project.accepted, project.runs.at(-1)?.state]);
  if (state === seen) return;
  if (seen === null) view = { ...START, ...Object.fromEntries([...kept()].filter(([key]) => key in START)) };
  seen = state;
  showWords();
  showFilters();
  readTable();
}

// What is shown is of the other kind of facts.
function forget() {
  [table, levels, worked] = [null, null, null];
  for (const id of ["rows", "level-rows", "learning", "curve", "multiples"]) redraw(id, null, () => []);
  for (const id of ["level-means", "level-now", "level-sure", "page-of"]) put(id, "");
  put("cost", MAKING);
  at("promise").disabled = true;
}

function showWords() {
  put("level-of", words().of);
  for (const part of ["accepted", "rejected"]) {
    at("parts").querySelector(`[data-part=${part}]`).textContent = capital(words()[part]);
    for (const place of at("decide").querySelectorAll(`[data-word=${part}]`)) place.textContent = words()[part];
  }
  put("level-accepted", capital(words().accepted));
  put("level-things", capital(words().things));
  put("probably", `Probably ${words().true}`);
  put("multiples-title", `Relations: their ${words().things} by score`);
}

// The table, as the server has it: of any length, a page at a time.
async function readTable() {
  const mine = (asked += 1);
  const { of, ...wanted } = view;
  const query = new URLSearchParams({ ...wanted, rows: String(ROWS) });
  for (const name of ["search", "relation", "by"]) if (!view[name]) query.delete(name);
  const reply = await fetchJson(`${route("table")}&${query}`);
  if (mine !== asked) return;
  if (reply.status !== 200) return put("table-state", sentenceOf(reply));
  table = reply.content;
  at("facts").removeAttribute("aria-busy");
  put("table-state", table.making ? "The table is being made …" : table.stale ? "What changed is being counted in …" : "");
  if (table.making && !levels) put("cost", MAKING);
  drawTable();
  if (table.stale) setTimeout(() => mine === asked && readTable(), 1500);
  if (table.making || table.state === worked) return;
  worked = table.state;
  readLevels(project.options.precision);
  readPictures();
}

function drawTable() {
  const page = Number(view.page);
  const pages = Math.max(1, Math.ceil(table.count / ROWS));
  put("page-of", table.making ? "" : table.count ? `${number(page * ROWS + 1)} to ${number(Math.min(table.count, (page + 1) * ROWS))} of ${number(table.count)}` : "Nothing of the kind.");
  at("page-before").disabled = page === 0;
  at("page-next").disabled = page + 1 >= pages;
  const had = at("rows").contains(document.activeElement);
  redraw("rows", table.rows, () => table.rows.map(drawRow));
  place = Math.max(0, Math.min(place, table.rows.length - 1));
  stand(place, had);
  offer("by", [...(table.hands ?? []).map((one) => [one, HANDS[one] ?? one]), ...(table.people ?? [])], view.by);
}

const sentence = (row) => (Array.isArray(row.sentence) ? row.sentence : [{ text: row.sentence }]);

function drawRow(row) {
  const parts = sentence(row);
  const why = [row.why ?? []].flat().join("; ");
  const said = element("div", { class: "decide", role: "group", "aria-label": "Your answer" }, ...["false", "unsure", "true"].map((word) => drawWord(row, word)));
  return element("tr", { "data-triple": String(row.triple) },
    element("th", { scope: "row", dir: directionOf(parts) }, element("span", { class: "what" }, ...drawSentence(parts)), ...(why ? [element("span", { class: "fine because", dir: "ltr" }, element("bdi", {}, why))] : [])),
    element("td", { class: "text" }, element("bdi", {}, row.names?.[1] ?? row.relation)),
    element("td", {}, row.probability === null ? "–" : percent(row.probability)),
    element("td", {}, element("span", { class: row.accepted ? "yes" : "no" }, row.accepted ? words().accepted : words().rejected)),
    element("td", { class: "text" }, element("bdi", {}, row.who || (HANDS[row.by] ?? row.by))),
    element("td", {}, said));
}

function drawWord(row, said) {
  const before = row.said ?? (row.by === "person" ? String(row.accepted !== isCheck()) : null);
  const button = element("button", { type: "button", class: said, "aria-pressed": String(before === said), tabindex: "-1" }, { true: "True", false: "False", unsure: "Not sure" }[said]);
  button.addEventListener("click", () => overrule(row, said));
  return button;
}

// One row has the keys; Tab leads into it and to its buttons, arrows to others.
function stand(number, focus) {
  place = number;
  [...at("rows").children].forEach((row, i) => {
    row.tabIndex = i === number ? 0 : -1;
    for (const button of row.querySelectorAll("button")) button.tabIndex = i === number ? 0 : -1;
  });
  if (focus) at("rows").children[number]?.focus();
}

async function overrule(row, said) {
  const reply = await fetchJson(route("overrule"), { triple: row.triple, said, key: newKey() });
  if (reply.status !== 200) return put("word-state", sentenceOf(reply));
  row.said = said;
  const line = at("rows").querySelector(`[data-triple="${row.triple}"]`);
  for (const button of line?.querySelectorAll(".decide button") ?? []) button.setAttribute("aria-pressed", String(button.classList.contains(said)));
  put("word-state", "Saved: that is an answer of yours.");
  announce(`${sentence(row).map((part) => part.text).join("")}: ${said === "unsure" ? "not sure" : said}`);
  setTimeout(readTable, 600);
}

// What a promise costs is known beforehand, for each of its levels; the first is no promise.
async function readLevels(promised) {
  const reply = await fetchJson(route("levels"));
  if (reply.status !== 200) return put("cost", sentenceOf(reply, "What a promise costs is not known yet."));
  const { now, said, confidence, relations } = reply.content;
  const moved = levels && levels.promised === promised; // a slider that was moved stays where it is
  const wanted = moved ? levels.all[Number(at("level").value)].precision : promised;
  levels = { all: [{ precision: null, accepted: now }, ...reply.content.levels], relations, promised, said, confidence };
  at("level").max = String(levels.all.length - 1);
  at("level").value = String(Math.max(0, levels.all.findIndex((one) => one.precision === wanted)));
  at("promise").disabled = project.state === "running";
  put("level-means", promised ? `Promised now: ${percent(promised)}.` : `Nothing is promised now: ${words().accepted} is whatever is more probably ${words().true} than not.`);
  offer("relation", relations.map((one) => [one.relation, one.name]), view.relation);
  showLevel();
}

function showLevel() {
  if (!levels) return;
  const chosen = Number(at("level").value);
  const { precision, accepted } = levels.all[chosen];
  const level = precision === null ? "none" : percent(precision);
  const more = accepted - levels.all[0].accepted;
  const cost = precision === null ? "without a promise" : more ? `${number(Math.abs(more))} ${more > 0 ? "more" : "fewer"} than without a promise` : "as many as without a promise";
  const alone = precision !== null && accepted <= levels.said ? ` These are only the facts that people ${words().accepted === "accepted" ? "accepted" : "took out"} themselves: for others there are too few answers to promise this. Judge more cards, or promise less.` : "";
  put("level-now", level);
  put("promise", precision === null ? "Decide" : "Decide with this promise");
  put("cost", `${count(accepted, "fact", "facts")}, ${cost}.${alone}`);
  put("level-sure", `A promise holds with ${percent(levels.confidence)} confidence: the fewer answers there are, the more it leaves out.`);
  at("level").setAttribute("aria-valuetext", `${level}: ${number(accepted)} facts`);
  redraw("level-rows", [chosen, levels.relations], () => levels.relations.map((one) => drawLevel(one, chosen)));
}

function drawLevel(one, level) {
  return element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, one.name)),
    element("td", {}, number(one.candidates)), element("td", {}, number(level ? one.accepted_at[level - 1] : one.now)));
}

async function readPictures() {
  const { status, content } = await fetchJson(route("pictures"));
  if (status !== 200) return;
  const { learning, precision, relations } = content;
  drawFigure("learning", learning.map((one) => [one.answers, one.middle, one.low, one.high]), "answers", "of the decisions should be right", "What the answers brought");
  drawFigure("curve", precision.map((one) => [one.accepted, one.middle, one.low, one.high]), words().accepted, `of those ${words().accepted} should be ${words().true}`, `Precision against the number ${words().accepted}`, precision.find((one) => one.now)?.accepted);
  redraw("multiples", relations, () => relations.map((one) => {
    const said = `${number(one.accepted)} of ${number(one.candidates)} ${words().accepted}`;
    return element("figure", {}, drawBins(one, `${one.name}: ${said}`), element("figcaption", {}, element("b", {}, element("bdi", {}, one.name)), ` ${said}`));
  }));
}

function drawFigure(id, points, unit, said, title, mark) {
  redraw(id, [points, mark], () => {
    if (points.length < 2) return [element("figcaption", {}, `${title}: after some more answers.`)];
    const last = points.at(-1);
    const most = Math.max(...points.map((point) => point[0]), 1);
    const dot = mark === undefined ? last : points.reduce((best, one) => (Math.abs(one[0] - mark) < Math.abs(best[0] - mark) ? one : best));
    const drawing = drawChart(points, { title: `${title}: ${percent(dot[1])} at ${number(dot[0])} ${unit}`, most, ends: [`0 ${unit}`, number(most)], dot, mark });
    const interval = dot[2] === null ? "" : ` (${percent(dot[2])} to ${percent(dot[3])})`;
    return [drawing, element("figcaption", {}, element("b", {}, title), ` · ${percent(dot[1])}${interval} ${said} at ${number(dot[0])} ${unit}.`)];
  });
}

// Filters: shown, kept in the address, and asked for.
function look(values) {
  put("word-state", "");
  view = { ...view, page: "0", search: at("search").value.trim(), ...values };
  at("facts").setAttribute("aria-busy", "true"); // the rows are of what was chosen before
  keep(Object.fromEntries(Object.entries(view).filter(([name, value]) => value !== START[name])));
  showFilters();
  readTable();
}

function showFilters() {
  for (const button of at("parts").children) button.setAttribute("aria-pressed", String(button.dataset.part === view.part));
  for (const button of at("kinds").children) button.setAttribute("aria-pressed", String(button.dataset.of === view.of));
  for (const name of ["search", "relation", "by"]) if (at(name) !== document.activeElement) at(name).value = view[name];
  for (const head of at("sorts").children) {
    const by = head.querySelector("button")?.dataset.by;
    if (by === view.sort) head.setAttribute("aria-sort", view.down === "true" ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

function offer(id, choices, chosen) {
  const pairs = choices.map((one) => (Array.isArray(one) ? one : [one, one]));
  const first = at(id).options[0];
  redraw(id, pairs, () => [first, ...pairs.map(([value, name]) => element("option", { value }, name))]);
  at(id).value = chosen;
}

function turn(step) {
  const page = Number(view.page) + step;
  if (!table || page < 0 || page * ROWS >= table.count) return;
  place = 0;
  look({ page: String(page) });
}

export function startDecide() {
  at("kinds").addEventListener("click", (event) => {
    if (!event.target.dataset.of || event.target.dataset.of === view.of) return;
    forget();
    look({ ...START, of: event.target.dataset.of });
    showWords();
  });
  at("parts").addEventListener("click", (event) => event.target.dataset.part && look({ part: event.target.dataset.part }));
  let typed = null;
  at("search").addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => look({ search: at("search").value.trim() }), 250);
  });
  for (const name of ["relation", "by"]) at(name).addEventListener("change", () => look({ [name]: at(name).value }));
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("sorts").addEventListener("click", (event) => {
    const by = event.target.closest("button")?.dataset.by;
    if (by) look({ sort: by, down: String(view.sort === by ? view.down !== "true" : by === "probability") });
  });
  at("page-before").addEventListener("click", () => turn(-1));
  at("page-next").addEventListener("click", () => turn(1));
  at("rows").addEventListener("focusin", (event) => {
    const number = [...at("rows").children].indexOf(event.target.closest("tr"));
    if (number >= 0 && number !== place) stand(number, false);
  });
  at("rows").addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const said = KEYS[event.key.toLowerCase()];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (said) overrule(table.rows[place], said);
    else if (step) stand(Math.max(0, Math.min(place + step, table.rows.length - 1)), true);
    else if (event.key === "PageDown" || event.key === "PageUp") turn(event.key === "PageDown" ? 1 : -1);
    else return;
    event.preventDefault();
  });
  at("level").addEventListener("input", showLevel);
  at("promise").addEventListener("click", async () => {
    if (levels && !(await change({ precision: levels.all[Number(at("level").value)].precision }, "promise-state"))) return;
    const reply = await startRun("decide");
    if (reply.status === 200) openTab("run", true);
    else put("promise-state", sentenceOf(reply));
  });
}
