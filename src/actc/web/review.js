// @ts-check
// The owner's word on single triples: where people differ, what nobody was sure of, what has a note.

import { directionOf, drawCard, drawSentence, isUnread, startReading, wordOf } from "./card.js";
import { all, at, element, fetchJson, letClose, makeButton, newKey, number, onPress, press, put } from "./draw.js";

const MOST = 200, LISTED = 8;
const KEYS = {
  t: "true", arrowright: "true", f: "false", arrowleft: "false", s: "unsure",
  u: "undo", backspace: "undo", j: "next", k: "before",
};
const NOTHING = { differ: "Nobody disagrees.", unsure: "Every fact has an answer that is sure.", noted: "Nobody wrote a note." };
let kind = "differ";
let counts = {};
let lines = [];   // the triples of this kind, as they were when the list was read
let place = 0;    // the one that is open
let past = [];    // decisions of this page, for undo: [place, key]
let busy = false;
let onChange = () => {};

export function startReview(changed) {
  onChange = changed;
}

// Called with fresh counts; the list is read again when they are others, unless the owner is in the middle of it.
export function showReview(fresh) {
  const other = JSON.stringify(fresh) !== JSON.stringify(counts);
  counts = fresh;
  for (const button of all("button", at("kinds"))) all("span", button)[0].textContent = number(counts[button.dataset.kind ?? ""]);
  if (other && !at("settle").open) readList();
}

async function readList() {
  const { status, content } = await fetchJson(`api/owner/review/${kind}?most=${MOST}`);
  if (status !== 200) return;
  lines = content;
  past = [];
  put("no-review", NOTHING[kind]);
  at("no-review").hidden = lines.length > 0;
  at("decide").hidden = lines.length === 0;
  put("more-review", counts[kind] > LISTED ? `and ${number(counts[kind] - LISTED)} more` : "");
  at("review").replaceChildren(...lines.slice(0, LISTED).map(drawLine));
}

function drawLine(line, number) {
  const open = makeButton("Decide", () => openAt(number));
  return element("li", {}, element("p", { class: "what", dir: directionOf(line.sentence) }, ...drawSentence(line.sentence)), drawWho(line), element("div", { class: "decide" }, open));
}

function drawWho(line) {
  const who = element("p", { class: "who" });
  const all = line.decided ? [...line.answers, { name: "you", answer: line.decided, note: "" }] : line.answers;
  all.forEach((one, i) => {
    who.append(i ? " · " : "", element("bdi", {}, one.name), ": ", element("span", { class: `answer-${one.answer}` }, wordOf(one.answer)));
    if (one.note) who.append(" “", element("bdi", {}, one.note), "”");
  });
  return who;
}

async function openAt(number) {
  place = Math.max(0, Math.min(number, lines.length - 1));
  if (lines.length === 0) return;
  const wasOpen = at("settle").open;
  const { status, content } = await fetchJson(`api/owner/card/${lines[place].triple}`);
  if (wasOpen && !at("settle").open) return; // closed while the card was on its way
  if (status !== 200) return put("review-state", String(content?.detail ?? "The server does not answer."));
  drawCard(content);
  startReading(at("settle"));
  put("place", `${place + 1} of ${lines.length}`);
  put("decided", content.decided ? `Your decision: ${wordOf(content.decided)}.` : "");
  at("who").replaceChildren(...drawWho(content).childNodes);
  at("before").disabled = place === 0;
  at("next").disabled = place === lines.length - 1;
  const dialog = at("settle");
  if (!dialog.open) dialog.showModal();
  at("settle-inside").scrollTop = 0;
}

async function send(body) {
  if (busy) return null;
  busy = true;
  const { status, content } = await fetchJson("api/owner/settle", body);
  busy = false;
  put("review-state", status === 200 ? "Saved" : String(content?.detail ?? "The server does not answer; try again."));
  if (status === 200) onChange();
  return status === 200 ? content : null;
}

async function decide(answer) {
  if (isUnread(at("settle"))) return;
  const here = place;
  const key = newKey();
  if (!(await send({ triple: lines[here].triple, answer, key }))) return;
  past.push([here, key]);
  if (!at("settle").open) return; // closed while the word was on its way
  if (here + 1 < lines.length) return openAt(here + 1);
  await openAt(here);
  put("review-state", "That was the last one.");
}

async function undo() {
  const last = past.at(-1);
  const done = await send({ answer: "undo", key: newKey(), undoes: last ? last[1] : null });
  if (!done) return;
  past.pop();
  put("review-state", "Taken back");
  if (!at("settle").open) return;
  const number = lines.findIndex((line) => line.triple === done.triple);
  if (number < 0) lines.splice(place, 0, { triple: done.triple }); // a decision from before this list was read
  openAt(number < 0 ? place : number);
}

const ACTIONS = { undo, next: () => openAt(place + 1), before: () => openAt(place - 1) };

at("settle").addEventListener("keydown", (event) => {
  const meaning = KEYS[event.key.toLowerCase()];
  if (!meaning || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  (ACTIONS[meaning] ?? (() => decide(meaning)))();
});
at("settle").addEventListener("close", () => {
  put("review-state", "");
  readList();
});
onPress("answers", (button) => decide(button.dataset.answer));
at("undo").addEventListener("click", undo);
at("next").addEventListener("click", ACTIONS.next);
at("before").addEventListener("click", ACTIONS.before);
letClose(at("settle"));
at("decide").addEventListener("click", () => openAt(0));
onPress("kinds", (chosen) => {
  kind = chosen.dataset.kind ?? "";
  press("kinds", (button) => button === chosen);
  readList();
});
