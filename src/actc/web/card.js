// @ts-check
// One triple as a card: the sentence, who and what is meant, and what the graph already has.

import { at, element, makeButton, put } from "./draw.js";

export const spoken = (card) => card.sentence.map((part) => part.text).join("");

// Nobody reads a card in a quarter of a second: a second click or key that comes so soon was not meant for it.
export const UNREAD = 250;
const timers = new WeakMap();

export function startReading(card) {
  card.dataset.unread = "";
  clearTimeout(timers.get(card));
  timers.set(card, setTimeout(() => delete card.dataset.unread, UNREAD));
}

export const isUnread = (card) => "unread" in card.dataset;

export const drawSentence = (parts) => parts.map((part) => (part.role ? element("bdi", { class: part.role }, part.text) : part.text));

// Which way a sentence runs: that of its first letter. The browser's own way to find out looks past names.
export function directionOf(parts) {
  const letter = /\p{L}/u.exec(parts.map((part) => part.text).join(""));
  return letter && /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(letter[0]) ? "rtl" : "ltr";
}

export function drawCard(card) {
  at("sentence").replaceChildren(...drawSentence(card.sentence));
  at("sentence").dir = directionOf(card.sentence);
  at("sentence").classList.toggle("long", spoken(card).length > 160);
  at("meanings").replaceChildren(...["head", "relation", "tail"].flatMap((role) => drawMeaning(role, card[role])));
  at("context").replaceChildren(...drawContext(card));
  const beside = card.when === "beside" ? card.reasons : [];
  at("reasons").hidden = beside.length === 0;
  at("reasons").replaceChildren(...drawReasons(beside));
  at("belief").hidden = !card.belief;
  put("belief", card.belief ?? "");
  put("why", card.why);
}

// What speaks for a triple and what against it, in words as well as by colour.
export function drawReasons(reasons) {
  return reasons.map((one) => element("li", { class: one.for ? "for" : "against" },
    element("span", {}, one.for ? "For" : "Against"), " ", element("bdi", {}, one.text)));
}

const ANSWERS = { false: "False", unsure: "Not sure", true: "True" };
export const wordOf = (answer) => ANSWERS[answer].toLowerCase();

// Three buttons for an answer that may be changed in a list.
export function drawAnswers(current, act, more = {}) {
  const buttons = Object.entries(ANSWERS).map(([answer, words]) => makeButton(words, () => act(answer), "", { class: answer, ...more }));
  const group = element("div", { class: "decide", role: "group", "aria-label": "Your answer" }, ...buttons);
  markAnswer(group, current);
  return group;
}

export function markAnswer(group, current) {
  for (const button of group.children) button.setAttribute("aria-pressed", String(button.classList.contains(current)));
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
    element("dd", { class: named.description ? "" : text === named.id ? "none" : "none bare" }, element("bdi", {}, text)),
  ];
}

// The text that a triple was taken from, its head and tail marked where they stand in it: as words, in whatever case.
function markEnds(card) {
  const roles = new Map(["head", "tail"].flatMap((role) => [card[role].name, card[role].id].map((name) => [plain(name), role])));
  const names = [...roles.keys()].sort((a, b) => b.length - a.length).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "[\\s_]+"));
  const ends = new RegExp(`(?<![\\p{Script=Latin}\\p{N}])(${names.join("|")})(?![\\p{Script=Latin}\\p{N}])`, "giu");
  return card.source.split(ends).map((part, at) => (at % 2 ? element("mark", { class: roles.get(plain(part)) ?? "" }, part) : part));
}

const plain = (name) => name.toLowerCase().replace(/[\s_]+/g, " ");

// What is around a triple: the text it was taken from, and facts of the graph; nothing where there are none.
function drawContext(card) {
  const name = (text) => element("bdi", {}, text);
  const known = card.known.map((text) => element("li", {}, name(text)));
  if (card.more_known) known.push(element("li", { class: "none" }, "and more"));
  const facts = (lines) => lines.map((parts) => element("li", { dir: directionOf(parts) }, ...drawSentence(parts)));
  const sections = [
    [["Already in the graph: ", name(card.head.name), " · ", name(card.relation.name)], "tags", known],
    [["Others of this relation in the graph"], "examples", facts(card.examples)],
    ...["head", "tail"].map((role) => [["More about ", name(card[role].name)], "facts", facts(card[`${role}_facts`])]),
  ].filter(([, , lines]) => lines.length);
  const source = card.source ? [element("section", {}, element("h2", {}, "Taken from"), element("p", {}, element("bdi", {}, ...markEnds(card))))] : [];
  return [...source, ...sections.map(([title, kind, lines]) => element("section", {}, element("h2", {}, ...title), element("ul", { class: kind }, ...lines)))];
}
