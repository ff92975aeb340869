// One triple, one key. What is pressed is shown as done at once, kept in the browser until the server has it on its
// disk, and sent under a key of its own, so that sending it twice stores it once.

import { element, fetchJson, put, showCurve, showRelations } from "/files/draw.js";

const KEYS = {
  t: "true", arrowright: "true",
  f: "false", arrowleft: "false",
  s: "unsure", arrowdown: "unsure",
  u: "undo", backspace: "undo",
  n: "note",
};
const LEAST_AHEAD = 6;
const FIRST_AHEAD = 16;
const MOST_AHEAD = 32;

const at = (id) => document.getElementById(id);
let queue = [];        // cards on the table; the first is shown
let outbox = [];       // judgements that the server has not confirmed
let past = [];         // what was answered on this page, for undo without waiting
let pace = [];         // when the last answers were given
let pressedAt = -Infinity; // when a key last answered, or wanted to
let held = [];         // keys of a quick hand that came while no card was there: one for each card to come
let shownAt = 0;
let shown = null;
let busy = false;
let oneByOne = false;  // after a refusal: find out which judgement it was
let takeOrder = false; // after an undo of something this page does not remember
let failures = 0;
let progress = null;
let storage = null;

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function keep() {
  if (storage) localStorage.setItem(storage, JSON.stringify(outbox));
  const waiting = outbox.length;
  const settled = held.length ? "Waiting for cards…" : "All saved";
  put("saved", waiting === 0 ? settled : failures ? `${waiting} not saved yet, trying again` : "Saving…");
  at("saved").classList.toggle("late", waiting > 0 && failures > 0);
}

function answer(said) {
  const quick = performance.now() - pressedAt < 1000; // one burst of keys, however long the cards take
  pressedAt = performance.now();
  const card = queue[0];
  if (!card) {
    if (quick && !spent()) held.push(said);
    return keep();
  }
  queue.shift();
  const note = at("note").value.trim();
  const seconds = Math.round(performance.now() - shownAt) / 1000;
  send({ said, triple: card.triple, key: newKey(), seconds, note });
  past.push({ card, key: outbox.at(-1).key, note });
  if (past.length > 200) past.shift();
  pace = [...pace.slice(-4), performance.now()];
  if (progress && said !== "unsure") progress.labels += 1;
  flash(said);
  show();
}

function undo() {
  held = [];
  const last = past.pop();
  send({ said: "undo", triple: null, key: newKey(), undoes: last ? last.key : null });
  if (!last) {
    takeOrder = true;
    return;
  }
  queue.unshift(last.card);
  show();
  at("note").value = last.note;
  announce(`Taken back: ${spoken(last.card)}`);
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
  const { status, content } = await fetchJson("/api/exchange", { judgements: batch, cards: wanted() });
  busy = false;
  if (status === 200) {
    failures = 0;
    outbox = outbox.slice(batch.length);
    oneByOne = oneByOne && outbox.length > 0;
    accept(content);
  } else if (status === 401 || status === 404) {
    tell("Please open your link again", "This browser is not signed in. Your answers on this page are kept and will be sent.");
    return;
  } else if (status === 409 || status === 400 || status === 422) {
    refuse(batch, content);
  } else {
    failures += 1;
    keep();
    setTimeout(exchange, Math.min(5000, 300 * 2 ** failures));
    if (queue.length === 0) tell("The server does not answer", "Your answers are kept here and sent as soon as it is back.");
    return;
  }
  keep();
  if (outbox.length > 0 || queue.length < LEAST_AHEAD / 2) later();
}

function refuse(batch, content) {
  if (batch.length > 1) {
    oneByOne = true;
    return;
  }
  outbox = outbox.slice(batch.length);
  takeOrder = true;
  const said = batch.length ? String(content?.detail ?? "") : "";
  announce(said);
  put("saved", said);
}

let waiting = null;
function later() {
  clearTimeout(waiting);
  const idle = outbox.length === 0;
  waiting = setTimeout(exchange, idle ? (progress?.done ? 4000 : 400) : 0);
}

function count(counts) {
  const waiting = outbox.filter((one) => one.said === "true" || one.said === "false").length;
  progress = { ...counts, labels: counts.labels + waiting };
}

function accept(content) {
  count(content.progress);
  const answered = new Set(outbox.map((one) => one.triple));
  const fresh = content.cards.filter((card) => !answered.has(card.triple));
  if (takeOrder && outbox.length === 0) {
    takeOrder = false;
    queue = fresh;
  } else {
    const here = new Set(queue.map((card) => card.triple));
    queue = [...queue, ...fresh.filter((card) => !here.has(card.triple))];
  }
  show();
}

function show() {
  showProgress();
  const card = queue[0] ?? null;
  if (card === shown && card) return;
  shown = card;
  at("card").hidden = !card;
  at("message").hidden = Boolean(card);
  for (const button of at("answers").children) button.disabled = !card;
  if (!card) {
    showNothing();
    return;
  }
  at("note").value = "";
  at("note-box").hidden = true;
  at("note-button").setAttribute("aria-expanded", "false");
  drawCard(card);
  shownAt = performance.now();
  announce(spoken(card));
  // Two frames later the card has been on the screen.
  if (held.length > 0) requestAnimationFrame(() => requestAnimationFrame(() => held.length > 0 && answer(held.shift())));
}

// Whether no card is to come, so that no key need wait for one.
function spent() {
  return Boolean(progress && (progress.done || progress.labels >= progress.triples));
}

function showNothing() {
  if (spent()) held = [];
  if (progress?.done) {
    tell("That is all. Thank you!", `${progress.labels} triples are judged: the budget is spent. You can still undo your last answers.`);
  } else if (progress && progress.labels >= progress.triples) {
    tell("Nothing is left to judge", "Every candidate has an answer.");
  } else {
    tell("One moment", "The next triples are being chosen, or others have them on their tables.");
  }
}

function tell(title, text) {
  if (queue.length > 0 && shown) return put("saved", title);
  at("card").hidden = true;
  at("message").hidden = false;
  put("message-title", title);
  put("message-text", text);
}

function showProgress() {
  if (!progress) return;
  const { labels, budget } = progress;
  put("count", `${labels.toLocaleString("en")} of ${budget.toLocaleString("en")}`);
  at("progress").setAttribute("aria-valuemax", budget);
  at("progress").setAttribute("aria-valuenow", Math.min(labels, budget));
  at("fill").style.width = `${Math.min(100, (100 * labels) / budget)}%`;
}

function spoken(card) {
  return card.sentence.map((part) => part.text).join("");
}

function announce(text) {
  put("announce", text);
}

function drawSentence(parts) {
  return parts.map((part) => (part.role ? element("bdi", { class: part.role }, part.text) : part.text));
}

function drawCard(card) {
  at("sentence").replaceChildren(...drawSentence(card.sentence));
  at("meanings").replaceChildren(...["head", "relation", "tail"].flatMap((role) => drawMeaning(role, card[role])));
  at("context").replaceChildren(...drawKnown(card), ...drawExamples(card));
  at("belief").hidden = !("score" in card);
  if ("score" in card) {
    const chance = card.probability == null ? "" : `, which it takes for ${Math.round(100 * card.probability)} % likely to be true`;
    put("belief", `The model gave it a score of ${card.score.toPrecision(4)}${chance}.`);
  }
  put("why", card.why);
  at("card").scrollTop = 0;
}

function drawMeaning(role, named) {
  const name = element("bdi", { class: role }, named.name);
  const title = named.link
    ? element("a", { href: named.link, target: "_blank", rel: "noopener noreferrer" }, name)
    : name;
  const types = named.types ? [element("span", { class: "types" }, element("bdi", {}, named.types))] : [];
  const text = named.description || (named.name === named.id ? "no description" : named.id);
  return [
    element("dt", {}, title, ...types),
    element("dd", { class: named.description ? "" : "none" }, element("bdi", {}, text)),
  ];
}

function drawKnown(card) {
  if (card.known.length === 0) return [];
  const others = card.known.map((name) => element("li", {}, element("bdi", {}, name)));
  if (card.more_known) others.push(element("li", { class: "none" }, "and more"));
  const title = element("h2", {}, "Already in the graph: ", element("bdi", {}, card.head.name), " · ", element("bdi", {}, card.relation.name));
  return [element("section", {}, title, element("ul", { class: "tags" }, ...others))];
}

function drawExamples(card) {
  if (card.examples.length === 0) return [];
  const lines = card.examples.map((parts) => element("li", {}, ...drawSentence(parts)));
  return [element("section", {}, element("h2", {}, "Known to be true"), element("ul", { class: "examples" }, ...lines))];
}

function flash(said) {
  const card = at("card");
  card.classList.remove("was-true", "was-false", "was-unsure");
  void card.offsetWidth; // restarts the animation
  card.classList.add(`was-${said}`);
}

function toggleNote(open) {
  const box = at("note-box");
  box.hidden = !(open ?? box.hidden);
  at("note-button").setAttribute("aria-expanded", String(!box.hidden));
  if (!box.hidden) at("note").focus();
  else document.activeElement?.blur();
}

const ACTIONS = { undo, note: () => shown && toggleNote() };

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target === at("note")) return toggleNote(false);
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLTextAreaElement) return;
  const meaning = KEYS[event.key.toLowerCase()];
  if (!meaning) return;
  event.preventDefault();
  (ACTIONS[meaning] ?? (() => answer(meaning)))();
});
at("answers").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) answer(button.dataset.said);
});
at("undo").addEventListener("click", undo);
at("note-button").addEventListener("click", () => toggleNote());

// A finger drags the card; a clear enough direction is an answer.
let start = null;
const card = at("card");
card.addEventListener("pointerdown", (event) => {
  if (event.pointerType !== "mouse" && !event.target.closest("a")) start = { x: event.clientX, y: event.clientY, id: event.pointerId };
});
card.addEventListener("pointermove", (event) => {
  if (!start || event.pointerId !== start.id) return;
  const x = event.clientX - start.x;
  card.style.transform = `translateX(${x}px) rotate(${x / 60}deg)`;
});
function endSwipe(event) {
  if (!start || event.pointerId !== start.id) return;
  const x = event.clientX - start.x;
  const y = event.clientY - start.y;
  start = null;
  card.style.transform = "";
  if (event.type === "pointercancel") return;
  if (Math.abs(x) > 80 && Math.abs(x) > 2 * Math.abs(y)) answer(x > 0 ? "true" : "false");
  else if (y < -80 && -y > 2 * Math.abs(x)) answer("unsure");
}
card.addEventListener("pointerup", endSwipe);
card.addEventListener("pointercancel", endSwipe);

window.addEventListener("beforeunload", (event) => {
  if (outbox.length > 0) event.preventDefault();
});

async function refreshPicture() {
  if (!document.hidden) {
    const { status, content } = await fetchJson("/api/picture");
    if (status === 200) drawPicture(content);
  }
  setTimeout(refreshPicture, 2000);
}

function drawPicture(content) {
  count(content.progress);
  showProgress();
  put("title", content.title);
  put("advice", content.picture.advice);
  showCurve(at("curve"), content.picture.curve, content.progress.budget);
  showRelations(at("relations"), content.picture.relations.slice(0, 8));
}

async function begin() {
  const { status, content } = await fetchJson("/api/picture");
  if (status !== 200) {
    if (status === 401) return tell("Please open your own link", "The owner of this session gave you one, or can give you one.");
    return setTimeout(begin, 1000);
  }
  drawPicture(content);
  storage = `${content.session}:${content.name}`;
  try {
    outbox = JSON.parse(localStorage.getItem(storage) ?? "[]");
  } catch {
    outbox = [];
  }
  keep();
  exchange();
  setTimeout(refreshPicture, 2000);
}

begin();
