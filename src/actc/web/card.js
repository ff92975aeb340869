// One triple as a card: the sentence, who and what is meant, and what the graph already says.

import { at, element, put } from "./draw.js";


export function spoken(card) {
  return card.sentence.map((part) => part.text).join("");
}

// Nobody reads a card in a quarter of a second: a second click or key that comes so soon was not meant for it.
export const UNREAD = 250;
const timers = new WeakMap();

export function startReading(card) {
  card.dataset.unread = "";
  clearTimeout(timers.get(card));
  timers.set(card, setTimeout(() => delete card.dataset.unread, UNREAD));
}

export function isUnread(card) {
  return "unread" in card.dataset;
}

export function drawSentence(parts) {
  return parts.map((part) => (part.role ? element("bdi", { class: part.role }, part.text) : part.text));
}

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
  at("context").replaceChildren(
    ...drawSource(card), ...drawKnown(card), ...drawExamples(card), ...drawFacts(card.head, card.head_facts), ...drawFacts(card.tail, card.tail_facts));
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

function drawSource(card) {
  if (!card.source) return [];
  return [element("section", {}, element("h2", {}, "Taken from"), element("p", {}, element("bdi", {}, card.source)))];
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
  const lines = card.examples.map((parts) => element("li", { dir: directionOf(parts) }, ...drawSentence(parts)));
  return [element("section", {}, element("h2", {}, "Others of this relation in the graph"), element("ul", { class: "examples" }, ...lines))];
}

function drawFacts(named, facts) {
  if (facts.length === 0) return [];
  const lines = facts.map((parts) => element("li", { dir: directionOf(parts) }, ...drawSentence(parts)));
  return [element("section", {}, element("h2", {}, "More about ", element("bdi", {}, named.name)), element("ul", { class: "facts" }, ...lines))];
}
