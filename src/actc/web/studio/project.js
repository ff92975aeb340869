// One project: its tabs, what to do next, and what all parts know of it. Text always goes in as text.

import { fetchJson, letClose, put, sentenceOf } from "../draw.js";
import { showData, startData } from "./data.js";
import { showDecide, startDecide } from "./decide.js";
import { showPeople, startPeople } from "./people.js";
import { showRuns, startRun, startRuns } from "./runs.js";
import { showTake, startTake } from "./take.js";

const at = (id) => document.getElementById(id);
const TABS = ["data", "run", "people", "decide", "take"];
const NEXT = {
  data: ["", "data"], go: ["Go", "run"], wait: ["See how far it is", "run"], judge: ["Judge now", "people"],
  decide: ["Decide", "decide"], take: ["Take it with you", "take"], look: ["See the log", "run"], again: ["See the run", "run"],
};
export const home = `../api/projects/${encodeURIComponent(at("main").dataset.name)}`;
export let project = null;
let tab = "";

// The address keeps the tab, and what a tab wants to be kept: #decide?part=near.
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
  if (project) draw();
}

document.querySelector("[role=tablist]").addEventListener("click", (event) => {
  const button = event.target.closest("[role=tab]");
  if (button) openTab(button.id.slice(4));
});
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const ends = { Home: TABS[0], End: TABS.at(-1) }[event.key];
  if (!step && !ends) return;
  event.preventDefault();
  openTab(ends ?? TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length], true);
});
window.addEventListener("popstate", () => {
  tab = ""; // the address is there already
  openTab(location.hash.slice(1).split("?")[0]);
});

export async function refresh() {
  const reply = await fetchJson(home);
  put("state", reply.status === 200 ? "" : sentenceOf(reply));
  if (reply.status !== 200) return;
  project = reply.content;
  draw();
}

function draw() {
  put("title", project.title);
  document.title = `${project.title} · actc`;
  const { what, sentence } = project.next;
  put("next-sentence", sentence);
  at("next-sentence").dataset.what = what;
  const [words, place] = NEXT[what] ?? ["", "data"];
  at("next-go").hidden = !words || tab === place; // the tab has the button itself
  put("next-go", words);
  for (const place of ["commands", "take-commands"]) put(place, project.commands.join("\n"));
  const show = { data: showData, run: showRuns, people: showPeople, decide: showDecide, take: showTake }[tab];
  show(project);
}

at("next-go").addEventListener("click", async () => {
  const { what } = project.next;
  if (what === "judge" && project.session) return window.open(project.session.judge, "_blank", "noopener");
  if (what === "go") await startRun(what);
  openTab(NEXT[what][1], true);
});

// Change what holds for the project; the reply is the project as it is now.
export async function change(values, place) {
  const reply = await fetchJson(home, values);
  put(place, reply.status === 200 ? "Saved." : sentenceOf(reply));
  if (reply.status === 200) {
    project = reply.content;
    draw();
  }
  return reply.status === 200;
}

export function announce(text) {
  put("announce", text);
}

export function number(value) {
  return value.toLocaleString("en");
}

export function count(value, one, many) {
  return `${number(value)} ${value === 1 ? one : many}`;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(at(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  } catch {
    getSelection().selectAllChildren(at(button.dataset.copy));
  }
});

async function keepFresh() {
  if (!document.hidden) await refresh();
  setTimeout(keepFresh, project?.state === "running" ? 1000 : 2500);
}

letClose(at("qr"));
for (const start of [startData, startRuns, startPeople, startDecide, startTake]) start();
openTab(location.hash.slice(1).split("?")[0]);
keepFresh();
localStorage.setItem("studio", new URL("..", location.href).pathname); // for the way back from a page on which people judge
