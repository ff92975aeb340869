// What runs, how far it is, what it said, and how to end it or let it go on.

import { element, fetchJson, put, redraw, sentenceOf } from "../draw.js";
import { announce, home, number, refresh } from "./project.js";

const at = (id) => document.getElementById(id);
const WHAT = { go: "Prepare the cards", decide: "Decide", publish: "Publish", withdraw: "Withdraw", audit: "Audit" };
const STATES = {
  waiting: "waits for its turn", running: "at work", done: "done", failed: "did not work", cancelled: "cancelled", interrupted: "was interrupted",
};
const MEANS = {
  complete: "Go finds candidates for missing facts and begins a session in which people judge some of them.",
  check: "Go finds doubtful facts and begins a session in which people judge some of them.",
  both: "Go finds missing and doubtful facts and begins a session in which people judge some of them.",
  decide: "Go begins a session in which people judge some of the candidates.",
};
const DECIDES = "Decide counts all answers in and writes the files.";
const BEGINS = "If you changed the graph or a choice, it looks for candidates again; all answers are kept, and people are asked only what is new.";
let states = new Map();

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export async function startRun(what, more = {}) {
  const reply = await fetchJson(`${home}/runs`, { what, ...more });
  put("run-state", reply.status === 200 ? "" : sentenceOf(reply));
  await refresh();
  return reply;
}

export function showRuns(project) {
  const living = project.runs.some((run) => ["waiting", "running"].includes(run.state));
  const { session, options: { goal } } = project;
  put("run-means", session ? `${DECIDES} ${goal === "decide" ? "" : BEGINS}` : MEANS[goal]);
  at("go").hidden = Boolean(session); // of a graph, to decide is to go the same way again
  at("go").disabled = living || project.state === "new";
  at("decide-now").hidden = !session;
  at("decide-now").disabled = living;
  at("decide-now").classList.toggle("go", project.accepted === null || project.next.what === "decide");
  at("run-report").hidden = !project.report || living;
  at("no-runs").hidden = project.runs.length > 0;
  redraw("runs", project.runs, () => [...project.runs].reverse().map(drawRun));
  for (const run of project.runs) {
    if (states.has(run.id) && states.get(run.id) !== run.state) announce(`${WHAT[run.what] ?? run.what}: ${STATES[run.state]}`);
    states.set(run.id, run.state);
  }
}

function drawRun(run) {
  const left = run.left === null ? "" : `, this stage for about ${duration(run.left)} more`;
  const took = run.seconds ? ` · ${duration(run.seconds)}` : "";
  const line = element("p", {}, element("strong", {}, WHAT[run.what] ?? run.what), ` ${STATES[run.state]}${left}${took} `);
  if (["waiting", "running"].includes(run.state)) line.append(act(run, "cancel", "Cancel"));
  if (["failed", "cancelled", "interrupted"].includes(run.state)) line.append(act(run, "again", run.state === "failed" ? "Try again" : "Go on"));
  const stages = run.stages.map((stage, i) => drawStage(stage, run.state === "running" && i === run.stages.length - 1));
  const open = run.state === "failed" || wasOpen(run.id);
  const log = element("details", { "data-run": String(run.id), ...(open ? { open: "open" } : {}) },
    element("summary", {}, "Log and command"),
    element("pre", { class: "log", tabindex: "0", role: "log", "aria-label": `Log of run ${run.id}` }, (run.log.length ? run.log : [run.command]).join("\n")));
  return element("li", { class: run.state }, line, element("ul", { class: "stages" }, ...stages), log);
}

function wasOpen(id) {
  return at("runs").querySelector(`details[data-run="${id}"]`)?.open ?? false;
}

function drawStage(stage, living) {
  const share = stage.total ? Math.min(1, stage.done / stage.total) : living ? null : 1;
  const words = stage.total ? `${number(stage.done)} of ${number(stage.total)}${living && stage.done >= stage.total ? ", and what follows from them …" : ""}` : living ? "…" : "done";
  const bar = element("span", { class: "progress", role: "progressbar", "aria-label": stage.name, "aria-valuemin": "0", "aria-valuemax": "100", ...(share === null ? {} : { "aria-valuenow": String(Math.round(100 * share)) }) }, element("span", {}));
  bar.firstChild.style.width = `${100 * (share ?? 0.05)}%`;
  return element("li", {}, element("span", {}, stage.name), bar, element("span", { class: "fine" }, `${words} · ${duration(stage.seconds)}`));
}

function act(run, what, words) {
  const button = element("button", { type: "button", "aria-label": `${words}: ${WHAT[run.what] ?? run.what}` }, words);
  button.addEventListener("click", async () => {
    const reply = await fetchJson(`${home}/runs/${run.id}/${what}`, {});
    put("run-state", reply.status === 200 ? "" : sentenceOf(reply));
    refresh();
  });
  return button;
}

export function startRuns() {
  at("go").addEventListener("click", () => startRun("go"));
  at("decide-now").addEventListener("click", () => startRun("decide"));
}
