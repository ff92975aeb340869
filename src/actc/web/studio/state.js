// @ts-check
// What all parts of a project's page know: the project as the server has it, and the tab that is open.

import { at, onPress, send } from "../draw.js";

const TABS = ["data", "run", "people", "decide", "take"];
export const home = `../api/projects/${encodeURIComponent(at("main").dataset.name ?? "")}`;
/** @type {any} What describe.py makes of a project; null before the server has answered. */
export let project = null;
export let tab = "";
let draw = () => {};

export function start(drawProject) {
  draw = () => project && drawProject();
  showAddress();
}

export async function refresh() {
  project = (await send(home, undefined, "state")) ?? project;
  draw();
}

// Change what holds for the project; the reply is the project as it is now.
export async function change(values, place) {
  const changed = await send(home, values, place, "Saved.");
  project = changed ?? project;
  draw();
  return changed !== null;
}

// Start what a button asks for, and return the run; null where it was refused, and a place shows why.
export async function startRun(what, more = {}, place = "run-state") {
  const run = await send(`${home}/runs`, { what, ...more }, place);
  await refresh();
  return run;
}

// The address has the tab, and what is looked at there: #decide?part=rejected.
export const readAddress = () => new URLSearchParams(location.hash.split("?")[1] ?? "");

export function writeAddress(values) {
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

onPress("tabs", (button) => openTab(button.id.slice(4)));
at("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const ends = { Home: TABS[0], End: TABS.at(-1) }[event.key];
  if (!step && !ends) return;
  event.preventDefault();
  openTab(ends ?? TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length], true);
});
addEventListener("popstate", showAddress);
