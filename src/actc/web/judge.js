// @ts-check
// One triple, one key. What is pressed is shown as done at once, and stays in the browser until the server has it on its
// disk, and sent under a key of its own, so that sending it twice stores it once.

import { directionOf, drawAnswers, drawCard, drawReasons, drawSentence, isUnread, markAnswer, spoken, startReading, wordOf } from "./card.js";
import { meaningOf, startKeys } from "./keys.js";
import { all, at, element, fetchJson, letClose, newKey, onPress, pressed, put } from "./draw.js";
import { drawMarkdown } from "./markdown.js";
import { showPicture, showProgress } from "./picture.js";
import { startSwipes } from "./swipes.js";

const MOST_PAST = 50; // answers of this window that can be undone
const LEAST_AHEAD = 6;
const FIRST_AHEAD = 16;
const MOST_AHEAD = 32;

let queue = [];        // cards that are leased to this page; the first is shown
let outbox = [];       // judgements that the server has not confirmed
let past = [];         // what was answered in this window, for undo without waiting; a reload keeps it
let pace = [];         // when the last answers were given
let shownAt = 0;
let shown = null;
let busy = false;
let oneByOne = false;  // after a refusal: find out which judgement it was
let takeOrder = false; // the server's cards replace those here
let signedOut = false; // the link is void
let failures = 0;
let progress = null;
let refused = [];      // sentences about answers that the server did not take
let storage = null;
let have = "";         // which picture is shown

function keep() {
  if (storage) localStorage.setItem(storage, JSON.stringify(outbox));
  const waiting = outbox.length;
  const settled = refused.length ? `${refused.length} not taken` : "All saved";
  const late = signedOut ? `${waiting} not saved` : failures ? `${waiting} not saved yet, trying again` : "Saving…";
  put("saved", waiting === 0 ? settled : late);
  Object.assign(at("saved").dataset, { waiting, refused: refused.length });
  at("saved").classList.toggle("late", waiting === 0 ? refused.length > 0 : failures > 0 || signedOut);
}

function giveAnswer(answer) {
  const card = queue[0];
  if (!card || isUnread(at("card"))) return;
  queue.shift();
  const note = at("note").value.trim();
  keepDraft(null, "");
  const seconds = Math.round(performance.now() - shownAt) / 1000;
  send({ answer, triple: card.triple, key: newKey(), seconds, note });
  keepPast([...past, { card, key: outbox.at(-1).key, note }]);
  pace = [...pace.slice(-4), performance.now()];
  flash(answer);
  showBefore(card, answer);
  show();
}

// Reasons for the last answer, where it is not to be read before: people may still undo.
function showBefore(card, answer) {
  const after = card?.when === "after";
  at("before").hidden = !after;
  if (!after) return;
  put("before-answer", wordOf(answer));
  at("before-what").replaceChildren(...drawSentence(card.sentence));
  at("before-what").dir = directionOf(card.sentence);
  at("before-reasons").replaceChildren(...drawReasons(card.reasons));
}

// The last answer of this window, and no other: one of another window, or of another day, is changed where it is read.
function undo() {
  const last = past.at(-1);
  if (!last) return showMine();
  keepPast(past.slice(0, -1));
  send({ answer: "undo", triple: null, key: newKey(), undoes: last.key });
  queue.unshift(last.card);
  showBefore(null);
  show();
  at("note").value = last.note;
  put("announce", `Taken back: ${spoken(last.card)}`);
}

function keepPast(answers) {
  past = answers.slice(-MOST_PAST);
  keepHere("past", past);
}

function send(judgement) {
  outbox.push(judgement);
  keep();
  exchange();
}

// As many cards ahead as three seconds of answering take, so that quick hands never wait and slow ones get fresh picks.
function wanted() {
  if (pace.length < 2) return FIRST_AHEAD;
  const each = (pace.at(-1) - pace[0]) / (pace.length - 1);
  return Math.min(MOST_AHEAD, Math.max(LEAST_AHEAD, Math.ceil(3000 / Math.max(each, 1))));
}

async function exchange() {
  if (busy) return;
  busy = true;
  const batch = outbox.slice(0, oneByOne ? 1 : 50);
  const { status, content } = await fetchJson("api/exchange", { judgements: batch, cards: wanted() });
  busy = false;
  if (status === 200) {
    failures = 0;
    signedOut = false;
    outbox = outbox.slice(batch.length);
    oneByOne = oneByOne && outbox.length > 0;
    accept(content);
  } else if (status === 401 || status === 404) {
    return signOut();
  } else if (status === 409 || status === 400 || status === 422) {
    refuse(batch, content);
  } else {
    failures += 1;
    keep();
    setTimeout(exchange, Math.min(5000, 300 * 2 ** failures));
    if (queue.length === 0) showMessage("The server does not answer", "Your answers wait here and are sent as soon as it is back.");
    return;
  }
  keep();
  if (outbox.length > 0 || queue.length < LEAST_AHEAD / 2) later();
}

// The link is void: there are no more cards here, and what is not saved yet waits for a new link of the same person.
function signOut() {
  signedOut = takeOrder = true;
  queue = [];
  keep();
  const waiting = outbox.length ? ` Not saved yet: ${outbox.length} of your answers. This browser keeps them, and sends them once you do.` : " What you answered is saved.";
  showMessage("This link is not valid any more", `Ask the owner of the session for a new link, and open it in this browser.${waiting}`);
}

// Several at once are sent again one by one, to find out which it was; that one is given up, and the page shows why. Other
// cards may be as old as that one was: all are fetched anew.
function refuse(batch, content) {
  if (batch.length > 1) {
    oneByOne = true;
    return;
  }
  outbox = outbox.slice(batch.length);
  takeOrder = true;
  if (batch.length === 0) return;
  queue = [];
  show();
  keepPast(past.filter((one) => one.key !== batch[0].key));
  refused.push(String(content?.detail ?? "The server did not take an answer."));
  showRefused();
}

function showRefused() {
  at("notice").hidden = refused.length === 0;
  at("refused").replaceChildren(...refused.slice(-3).map((text) => element("li", { dir: "ltr" }, text)));
  keep();
}

let waiting = null;
function later() {
  clearTimeout(waiting);
  waiting = setTimeout(exchange, outbox.length ? 0 : spent() ? 4000 : 400);
}

// Two requests may overtake each other; what was counted after fewer judgements is older. A smaller budget takes cards
// away.
function count(counts) {
  if (progress && counts.judgements < progress.judgements) return;
  if (progress && counts.budget < progress.budget) takeOrder = true;
  progress = { left: progress?.left ?? "more", ...counts };
}

function accept(content) {
  count(content.progress);
  const answered = new Set(outbox.map((one) => one.triple));
  const fresh = content.cards.filter((card) => !answered.has(card.triple));
  if (content.progress.left === "paused") {
    queue = [];
    takeOrder = true;
  } else if (takeOrder && outbox.length === 0) {
    takeOrder = false;
    queue = fresh;
  } else {
    const here = new Set(queue.map((card) => card.triple));
    queue = [...queue, ...fresh.filter((card) => !here.has(card.triple))];
  }
  show();
}

function show() {
  if (progress) showProgress(progress);
  const card = queue[0] ?? null;
  if (card === shown && card) return;
  turnTo(card);
  if (!card) return showNothing();
  showDraft(card);
  drawCard(card);
  at("card").scrollTop = 0;
  if (getComputedStyle(at("card")).overflowY === "visible") scrollTo(0, 0);
  shownAt = performance.now();
  startReading(at("card"));
  put("announce", spoken(card));
}

// There is a card to answer, or a message in its place.
function turnTo(card) {
  shown = card;
  at("card").hidden = !card;
  at("message").hidden = Boolean(card);
  for (const button of all("button", at("answers"))) button.disabled = !card;
}

// Whether no card is to come soon.
const spent = () => Boolean(progress && progress.left !== "more");

const ENDS = {
  more: ["One moment", "The next triples are being chosen."],
  paused: ["Paused", "The owner of the session lets everybody wait. This page goes on by itself; what you answered is saved."],
  certified: ["The audit has its answer", "What was judged is enough to certify the share. You can still undo your last answers. Thank you!"],
  spent: ["That is all. Thank you!", "All cards are judged. You can still undo your last answers."],
  others: ["Others have the rest", "What is left is on other people's tables. If they leave it, it comes to you: keep this page open, or come back later."],
  none: ["Nothing is left for you", "Every candidate has your answer, or somebody's; those you were not sure of twice are left to others. You can still undo your last answers."],
};

function showNothing() {
  if (signedOut) return;
  at("message").dataset.left = progress?.left ?? "more";
  at("fifty").hidden = !(progress?.left === "spent" && progress.alone);
  if (at("back")) at("back").hidden = !(["spent", "certified", "none", "paused"].includes(progress?.left) && progress.alone);
  showMessage(...ENDS[progress?.left ?? "more"]);
}

// The studio's pages are at a path that only this browser knows.
if (at("back")) at("back").href = (localStorage.getItem("studio") ?? "/") + at("back").getAttribute("href");

function showMessage(title, text) {
  turnTo(null);
  put("message-title", title);
  put("message-text", text);
}

function flash(answer) {
  const card = at("card");
  card.classList.remove("was-true", "was-false", "was-unsure");
  void card.offsetWidth; // restarts the animation
  card.classList.add(`was-${answer}`);
}

function toggleNote(open) {
  const box = at("note-box");
  box.hidden = !(open ?? box.hidden);
  at("note-button").setAttribute("aria-expanded", String(!box.hidden));
  if (!box.hidden) at("note").focus();
  else at("note").blur();
}

// What is being written survives a reload.
function keepDraft(triple, note) {
  if (storage) localStorage.setItem(`${storage}:draft`, JSON.stringify({ triple, note }));
}

function showDraft(card) {
  const draft = stored(`${storage}:draft`, {});
  at("note").value = draft.triple === card.triple ? draft.note : "";
  at("note-box").hidden = at("note").value === "";
  at("note-button").setAttribute("aria-expanded", String(!at("note-box").hidden));
}

// What this window keeps over a reload, and another one of the same person does not have.
function keepHere(name, value) {
  try {
    sessionStorage.setItem(`${storage}:${name}`, JSON.stringify(value));
  } catch {
    sessionStorage.removeItem(`${storage}:${name}`); // too much, or not allowed: a reload forgets it
  }
}

function stored(name, otherwise, place = localStorage) {
  try {
    return JSON.parse(place.getItem(name) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

const ACTIONS = { undo, note: () => shown && toggleNote(), help: () => at("help").showModal(), mine: showMine };

// Keys are the page's, unless a field, a menu or a dialog has them; Escape, and Enter in a menu, give them back.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target === at("note")) return toggleNote(false);
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (pressed(event, "input, textarea, select, dialog[open]")) return;
  const meaning = meaningOf(event);
  if (!meaning) return scrollCard(event);
  event.preventDefault();
  (ACTIONS[meaning] ?? (() => giveAnswer(meaning)))();
});

// Keys that scroll a page scroll the card, where it is the card that scrolls.
const STEPS = { ArrowDown: 60, ArrowUp: -60, PageDown: 300, PageUp: -300 };
function scrollCard(event) {
  const card = at("card");
  if (!(event.key in STEPS) || card.scrollHeight <= card.clientHeight) return;
  event.preventDefault();
  card.scrollBy({ top: STEPS[event.key] });
}

onPress("answers", (button) => giveAnswer(button.dataset.answer));
at("undo").addEventListener("click", undo);
at("note-button").addEventListener("click", () => toggleNote());
at("note").addEventListener("input", () => shown && keepDraft(shown.triple, at("note").value));
at("help-button").addEventListener("click", ACTIONS.help);
at("mine-button").addEventListener("click", showMine);
for (const id of ["help", "mine"]) letClose(at(id));
at("mine-find").addEventListener("input", drawMine);
at("fifty").addEventListener("click", async () => {
  const { status, content } = await fetchJson("api/more", { triples: 50 });
  if (status !== 200) return showMessage("That is all. Thank you!", String(content?.detail ?? "The server does not answer."));
  count({ ...content, left: "more" });
  showNothing();
  exchange();
});
at("notice-close").addEventListener("click", () => {
  refused = [];
  showRefused();
});

// What was answered so far, and another answer where somebody changed their mind: the old one is taken back and the
// new one given in one go, so that there is no moment without an answer.
let mine = [];
let noAnswers = "";

async function showMine() {
  const { status, content } = await fetchJson("api/answers?most=200");
  const pending = new Set(outbox.filter((one) => one.undoes).map((one) => one.undoes));
  mine = status === 200 ? content.filter((one) => !pending.has(one.key)) : [];
  noAnswers = status === 200 ? "You have answered nothing yet." : status === 401 ? "This link is not valid any more." : "The server does not answer. Try again when it is back; nothing that you answered is lost.";
  drawMine();
  if (!at("mine").open) at("mine").showModal();
}

function drawMine() {
  const wanted = at("mine-find").value.trim().toLowerCase();
  const lines = mine.filter((line) => spoken(line).toLowerCase().includes(wanted));
  at("mine-none").hidden = lines.length > 0;
  put("mine-none", mine.length ? "Nothing of the kind." : noAnswers);
  at("mine-list").replaceChildren(...lines.map(drawOwn));
}

function drawOwn(line) {
  const choices = drawAnswers(line.answer, (answer) => changeMind(line, answer, choices));
  const note = line.note ? [element("p", { class: "who" }, "“", element("bdi", {}, line.note), "”")] : [];
  return element("li", {}, element("p", { class: "what", dir: directionOf(line.sentence) }, ...drawSentence(line.sentence)), ...note, choices);
}

function changeMind(line, answer, choices) {
  if (line.answer === answer) return;
  const key = newKey();
  keepPast(past.filter((one) => one.key !== line.key));
  outbox.push({ answer: "undo", triple: null, key: newKey(), undoes: line.key });
  send({ answer, triple: line.triple, key, note: line.note });
  Object.assign(line, { answer, key });
  markAnswer(choices, answer);
  put("announce", `Changed to ${wordOf(answer)}: ${spoken(line)}`);
}

addEventListener("beforeunload", (event) => {
  if (outbox.length > 0) event.preventDefault();
});

async function refreshPicture() {
  if (!document.hidden) {
    const { status, content } = await fetchJson(`api/picture?have=${have}`);
    if (status === 200) drawPicture(content);
    if (status === 401 ? !signedOut : status === 200 && (signedOut || takeOrder)) exchange();
  }
  setTimeout(refreshPicture, 2000);
}

function drawPicture(content) {
  count(content.progress);
  showProgress(progress);
  put("title", content.title);
  if (content.picture) showPicture(content.picture, content.progress.goal, 8); // none: nothing has changed
  have = content.state;
}

async function begin() {
  const { status, content } = await fetchJson("api/picture");
  if (status !== 200) {
    if (status === 401) return showMessage("Please open your own link", "The owner of this session gave you one, or can give you one.");
    return setTimeout(begin, 1000);
  }
  drawPicture(content);
  storage = `${content.session}:${content.name}`;
  outbox = stored(storage, []);
  past = stored(`${storage}:past`, [], sessionStorage);
  keep();
  exchange();
  setTimeout(refreshPicture, 2000);
  showGuidelines();
}

// What the owner wants annotators to know: shown before the first card, once, and with the help.
async function showGuidelines() {
  const { status, content } = await fetchJson("api/guidelines");
  if (status !== 200 || !content.text) return;
  at("guidelines").replaceChildren(...drawMarkdown(content.text));
  if (stored(`${storage}:read`, "") === content.text) return;
  at("help").addEventListener("close", () => {
    localStorage.setItem(`${storage}:read`, JSON.stringify(content.text));
    shownAt = performance.now(); // the time to read is not the time to judge
  }, { once: true });
  if (!at("help").open) at("help").showModal();
}

startKeys();
startSwipes(at("card"), giveAnswer);
begin();
