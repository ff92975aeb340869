// What all parts of a project's page know: the project as the server has it, and the tab that is open.

import { at, fetchJson, put, sentenceOf } from "../draw.js";

const TABS = ["data", "run", "people", "decide", "take"];
export const home = `../api/projects/${encodeURIComponent(at("main").dataset.name)}`;
export let project = null;
export let tab = "";
let drawAll = () => {};

export function start(draw) {
  drawAll = draw;
  showAddress();
}

function draw() {
  if (project) drawAll();
}

export async function refresh() {
  const reply = await fetchJson(home);
  put("state", reply.status === 200 ? "" : sentenceOf(reply));
  if (reply.status === 200) project = reply.content;
  draw();
}

// Change what holds for the project; the reply is the project as it is now.
export async function change(values, place) {
  const reply = await fetchJson(home, values);
  put(place, reply.status === 200 ? "Saved." : sentenceOf(reply));
  if (reply.status === 200) project = reply.content;
  draw();
  return reply.status === 200;
}

// Start what a button asks for; a place says why it was refused.
export async function startRun(what, more = {}, place = "run-state") {
  const reply = await fetchJson(`${home}/runs`, { what, ...more });
  put(place, reply.status === 200 ? "" : sentenceOf(reply));
  await refresh();
  return reply;
}

// The address keeps the tab, and what a tab wants to be kept: #decide?part=rejected.
export function kept() {
  return new URLSearchParams(location.hash.split("?")[1] ?? "");
}

export function keep(values) {
  const text = new URLSearchParams(Object.entries(values).filter(([, value]) => value)).toString();
  history.replaceState(null, "", `#${tab}${text ? `?${text}` : ""}`);
}

export function openTab(name, focus = false) {
  const before = tab;
  tab = TABS.includes(name) ? name : "data";
  for (const one of TABS) {
    const button = at(`tab-${one}`);
    button.setAttribute("aria-selected", String(one === tab));
    button.tabIndex = one === tab ? 0 : -1;
    at(one).hidden = one !== tab;
  }
  if (focus) at(`tab-${tab}`).focus();
  if (before && before !== tab) history.pushState(null, "", `#${tab}`); // Back leads to the tab before
  draw();
}

function showAddress() {
  tab = "";
  openTab(location.hash.slice(1).split("?")[0]);
}

const list = document.querySelector("[role=tablist]");
list.addEventListener("click", (event) => {
  const button = event.target.closest("[role=tab]");
  if (button) openTab(button.id.slice(4));
});
list.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const ends = { Home: TABS[0], End: TABS.at(-1) }[event.key];
  if (!step && !ends) return;
  event.preventDefault();
  openTab(ends ?? TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length], true);
});
window.addEventListener("popstate", showAddress);
