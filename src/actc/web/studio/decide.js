// @ts-check
// What is decided: what a guarantee costs, every fact with its reasons, the owner's answers to single ones.
// Slider, table and relations are views of one state; nothing moves unless a person wants it.

import { directionOf, drawAnswers, markAnswer, UNREAD, wordOf } from "../card.js";
import { all, at, bdi, count, drawRow, element, fetchJson, interval, makeButton, newKey, number, onPress, percent, press, pressed, put, redraw, send, sentenceOf, showSort, showWords } from "../draw.js";
import { showLearning } from "../picture.js";
import { change, home, openTab, project, readAddress, startRun, writeAddress } from "./state.js";

const ROWS = 50;
const START = { of: "candidates", level: "", part: "accepted", sort: "probability", down: "true", search: "", relation: "", by: "", page: "0" };
const HANDS = { person: "people", method: "the method", judges: "machine judges", oracle: "an oracle", constraint: "a constraint" };
const KEYS = { t: "true", f: "false", s: "unsure", u: "undo" };
const isBoth = () => project.options.goal === "both"; // then it is chosen which facts are shown: missing ones, or wrong ones
// Wrong facts are taken out, and an answer "false" agrees with that: the server has the words.
const words = () => overview?.words ?? project.words;
const isCheck = () => words().true === "wrong";
const keyOf = (row) => JSON.stringify([row.head, row.relation, row.tail]);
let view = { ...START, ...Object.fromEntries([...readAddress()].filter(([key]) => key in START)) };
let table = null;    // the page that is shown
let overview = null; // what each guarantee accepts, and the relations under the one that is chosen
let latest = 0;       // the last request
let focused = null;  // the fact that has the keys
let drawnAt = 0;
const given = new Map(); // answers of this page, by fact
let past = [];        // the same, in their order, for undo

export function showDecide() {
  at("undecided").hidden = Boolean(project.session);
  for (const part of all(".with-session", at("decide"))) part.hidden = !project.session;
  for (const part of all(".with-table", at("decide"))) part.hidden = !project.decided;
  if (!project.session) return;
  at("kinds").hidden = !isBoth();
  at("guarantee").disabled = project.state === "running";
  showWords(words());
  if (project.decided && !table) read(true);
  showChanges();
  showNeeds();
}

// Nobody's list is replaced while they work in it: a button shows the new one.
function showChanges() {
  const newer = Boolean(table) && view.of === "candidates" && table.version !== project.decided;
  at("refresh").hidden = !newer;
  const since = Math.max(0, project.session.answers - (project.outcome?.answers ?? 0));
  put("changes", newer ? "It was decided anew." : project.decided && since ? `${count(since, "answer", "answers")} since this was decided: decide again to count ${since === 1 ? "it" : "them"} in.` : "");
}

// How many more cards a stronger guarantee needs, and a button that asks just those.
function showNeeds() {
  const { outcome, session } = project;
  const needs = Object.entries(outcome?.needed ?? {}).map(([precision, answers]) => [Number(precision), answers]);
  at("needs-title").hidden = needs.length === 0;
  redraw("needs", [needs, session.answers], () => needs.map(([precision, answers]) => {
    if (answers === null) return element("li", {}, `${percent(precision)}: how many cards this needs cannot be estimated yet; judge some more.`);
    const button = makeButton(`Ask ${count(answers, "more card", "more cards")}`, () => change({ precision, budget: session.answers + answers }, "guarantee-state"));
    return element("li", {}, element("span", {}, `${percent(precision)} needs about ${count(answers, "more card", "more cards")}.`), " ", button);
  }));
}

// The guarantee that is looked at; nothing in the address means the one that was decided with.
const decidedWith = () => overview?.target ?? 0;
const chosenLevel = () => (view.level === "" ? decidedWith() : Number(view.level));

function route(name, values) {
  const query = new URLSearchParams({ ...values, of: isBoth() ? view.of : "candidates" });
  if (view.level !== "") query.set("level", view.level);
  for (const [key, value] of [...query]) if (value === "") query.delete(key);
  return `${home}/${name}?${query}`;
}

async function read(whole) {
  const mine = (latest += 1);
  const { of: _of, level: _level, ...wanted } = view;
  const replies = await Promise.all([fetchJson(route("decisions", { ...wanted, rows: String(ROWS) })), ...(whole ? [fetchJson(route("overview", {}))] : [])]);
  if (mine !== latest) return;
  at("facts").removeAttribute("aria-busy");
  const refused = replies.find((reply) => reply.status !== 200);
  put("table-state", refused ? sentenceOf(refused) : "");
  if (refused) return;
  table = replies[0].content;
  overview = replies[1]?.content ?? overview;
  drawTable();
  if (whole) drawOverview();
  showChanges();
}

function drawTable() {
  const page = Number(view.page);
  put("page-of", table.count ? `${number(page * ROWS + 1)} to ${number(Math.min(table.count, (page + 1) * ROWS))} of ${number(table.count)}` : "Nothing of the kind.");
  at("page-before").disabled = page === 0;
  at("page-next").disabled = (page + 1) * ROWS >= table.count;
  const had = at("rows").contains(document.activeElement);
  at("rows").replaceChildren(...table.rows.map(drawFact));
  drawnAt = performance.now();
  stand(table.rows.some((row) => keyOf(row) === focused) ? focused : table.rows.length ? keyOf(table.rows[0]) : null, had);
}

function drawFact(row) {
  const answers = drawAnswers(answerOf(row), (word) => answer(row, word), { tabindex: "-1" });
  return element("tr", { "data-fact": keyOf(row) },
    element("th", { scope: "row", dir: directionOf([{ text: row.sentence }]) }, element("span", { class: "what" }, row.sentence), ...(row.why ? [element("span", { class: "fine because", dir: "ltr" }, bdi(row.why))] : [])),
    element("td", { class: "text" }, bdi(row.names[1])),
    element("td", {}, row.probability === null ? "–" : percent(row.probability)),
    element("td", {}, element("span", { class: row.accepted ? "yes" : "no" }, row.accepted ? words().accepted : words().rejected)),
    element("td", { class: "text" }, HANDS[row.by] ?? row.by),
    element("td", {}, answers));
}

const answerOf = (row) => given.get(keyOf(row)) ?? row.answer;
const lineOf = (key) => all("tr", at("rows")).find((line) => line.dataset.fact === key);

// One row has the keys; Tab leads into it and to its buttons, arrows to others.
function stand(key, focus) {
  focused = key;
  for (const line of all("tr", at("rows"))) {
    const mine = line.dataset.fact === key;
    line.tabIndex = mine ? 0 : -1;
    for (const button of line.querySelectorAll("button")) button.tabIndex = mine ? 0 : -1;
    if (mine && focus) line.focus();
  }
}

function mark(row) {
  const group = lineOf(keyOf(row))?.querySelector(".decide"); // the row may be on another page by now
  if (group) markAnswer(group, answerOf(row));
}

// Nobody reads a list in a quarter of a second: what is pressed so soon after it changed was not meant for it.
async function answer(row, word) {
  if (!row || performance.now() - drawnAt < UNREAD) return;
  const last = { row, key: newKey(), before: answerOf(row) };
  given.set(keyOf(row), word);
  mark(row);
  past.push(last);
  last.sent = store(row, word, last.key);
  if (!(await last.sent)) {
    past = past.filter((one) => one !== last);
    return restore(last);
  }
  at("undo-answer").disabled = past.length === 0;
  put("word-state", "Saved: that is an answer of yours.");
  put("announce", `${row.sentence}: ${wordOf(word)}`);
}

// The last answer may be on its way still: it is taken back once it is stored.
async function undo() {
  const last = past.pop();
  if (!last || !(await last.sent)) return;
  if (!(await store(last.row, "undo", last.key))) return past.push(last);
  restore(last);
  at("undo-answer").disabled = past.length === 0;
  put("word-state", `Taken back: ${last.row.sentence}`);
}

const store = ({ head, relation, tail }, word, key) => send(`${home}/answer`, { head, relation, tail, answer: word, key }, "word-state");

function restore({ row, before }) {
  if (before === undefined || before === null) given.delete(keyOf(row));
  else given.set(keyOf(row), before);
  mark(row);
}

// What each guarantee accepts is known beforehand; wrong facts are never taken out without one.
const steps = () => [...(isCheck() ? [] : [{ precision: 0, accepted: overview.unguaranteed }]), ...overview.levels];

function drawOverview() {
  const { relations } = overview;
  at("level").max = String(Math.max(0, steps().length - 1));
  showLevel();
  offer("relation", relations.map((one) => [one.relation, one.name]).sort((a, b) => a[1].localeCompare(b[1])), view.relation);
  offer("by", overview.by.map((one) => [one, HANDS[one] ?? one]), view.by);
  redraw("level-rows", relations, () => relations.map((one) => drawRow([bdi(one.name)], `${number(one.accepted)} of ${number(one.candidates)}`,
    one.errors === null ? "–" : number(Math.round(one.errors)))));
  showLearning("learning", overview.curve, project.session.budget, words());
}

function showLevel() {
  const all = steps();
  const place = Math.max(0, all.findIndex((one) => one.precision === chosenLevel()));
  const { precision, accepted } = all[place] ?? { precision: 0, accepted: overview.accepted };
  at("level").value = String(place);
  const level = precision ? percent(precision) : "none";
  const more = accepted - overview.unguaranteed;
  const cost = !precision || isCheck() ? "" : more ? `, ${number(Math.abs(more))} ${more > 0 ? "more" : "fewer"} than without a guarantee` : ", as many as without a guarantee";
  const alone = precision && accepted <= overview.own ? ` These are only the facts that people ${words().accepted === "accepted" ? "accepted" : "took out"} themselves: for others there are too few answers to guarantee this. Judge more cards, or guarantee less.` : "";
  const share = chosenLevel() === decidedWith() ? project.outcome?.precision : null;
  const sure = share?.[1] ? ` Precision of the ${words().accepted_facts}: ${percent(share[1])} (${interval(share[0], share[2])}).` : "";
  put("level-now", level);
  put("level-means", decidedWith() ? `Guaranteed now: ${percent(decidedWith())}.` : `Nothing is guaranteed now: what is more probably ${words().true} than not is ${words().accepted}.`);
  put("guarantee", precision ? "Decide with this guarantee" : "Decide");
  put("cost", `${number(accepted)} of ${count(overview.candidates, words().things.slice(0, -1), words().things)} ${accepted === 1 ? "is" : "are"} ${words().accepted}${cost}.${sure}${alone}`);
  at("level").setAttribute("aria-valuetext", `${level}: ${number(accepted)} facts`);
}

// The state: shown, in the address, and requested.
function look(values, whole = false) {
  put("word-state", "");
  view = { ...view, page: "0", search: at("search").value.trim(), ...values };
  at("facts").setAttribute("aria-busy", "true"); // the rows are of what was chosen before
  writeAddress(Object.fromEntries(Object.entries(view).filter(([name, value]) => value !== START[name])));
  showFilters();
  read(whole);
}

function showFilters() {
  press("parts", (button) => button.dataset.part === view.part);
  press("kinds", (button) => button.dataset.of === view.of);
  for (const name of ["search", "relation", "by"]) if (at(name) !== document.activeElement) at(name).value = view[name];
  showSort(view.sort, view.down === "true");
}

function offer(id, pairs, chosen) {
  const first = at(id).options[0];
  redraw(id, pairs, () => [first, ...pairs.map(([value, name]) => element("option", { value }, name))]);
  at(id).value = chosen;
}

function turn(step) {
  const page = Number(view.page) + step;
  if (!table || page < 0 || page * ROWS >= table.count) return;
  focused = null;
  look({ page: String(page) });
}

// Calls that follow each other fast are one, the last.
function calmly(act) {
  let waiting = null;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(act, 250);
  };
}

export function startDecide() {
  showFilters();
  onPress("kinds", ({ dataset: { of } }) => {
    if (of === view.of) return;
    [table, overview] = [null, null];
    at("rows").replaceChildren();
    look({ ...START, search: "", of }, true);
    showWords(words());
  });
  onPress("parts", (button) => look({ part: button.dataset.part }));
  at("search").addEventListener("input", calmly(() => look({})));
  for (const name of ["relation", "by"]) at(name).addEventListener("change", () => look({ [name]: at(name).value }));
  onPress("sorts", ({ dataset: { by } }) => look({ sort: by, down: String(view.sort === by ? view.down !== "true" : by === "probability") }));
  at("page-before").addEventListener("click", () => turn(-1));
  at("page-next").addEventListener("click", () => turn(1));
  at("undo-answer").addEventListener("click", undo);
  at("refresh").addEventListener("click", () => look({ level: "", page: view.page }, true));
  at("rows").addEventListener("focusin", (event) => stand(pressed(event, "tr")?.dataset.fact, false));
  at("rows").addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const word = KEYS[event.key.toLowerCase()];
    const place = table.rows.findIndex((row) => keyOf(row) === focused);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (word === "undo") undo();
    else if (word) answer(table.rows[place], word);
    else if (step) stand(keyOf(table.rows[Math.max(0, Math.min(place + step, table.rows.length - 1))]), true);
    else if (event.key === "PageDown" || event.key === "PageUp") turn(event.key === "PageDown" ? 1 : -1);
    else return;
    event.preventDefault();
  });
  const slide = calmly(() => look({}, true));
  at("level").addEventListener("input", () => {
    view.level = String(steps()[Number(at("level").value)].precision);
    if (Number(view.level) === decidedWith()) view.level = "";
    showLevel();
    slide();
  });
  at("guarantee").addEventListener("click", async () => {
    if (overview && !(await change({ precision: chosenLevel() || null }, "guarantee-state"))) return;
    if (await startRun("decide", {}, "guarantee-state")) openTab("run", true);
  });
}
