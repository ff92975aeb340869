// @ts-check
// What runs, how far it is, what came of it, and how to end it or let it go on.

import { all, at, drawProgress, element, makeButton, number, put, redraw, send } from "../draw.js";
import { home, openTab, refresh, startRun } from "./state.js";

const WHAT = { go: "Prepare the cards", decide: "Decide", publish: "Publish", withdraw: "Withdraw" };
const STATES = {
  waiting: "waits for its turn", running: "at work", done: "done", failed: "did not work", cancelled: "cancelled", interrupted: "was interrupted",
};
const states = new Map();

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export function showRuns({ runs, session, state, result, report, decided, options: { goal } }) {
  const living = runs.some((run) => ["waiting", "running"].includes(run.state));
  put("run-means", session
    ? `Decide counts all answers and writes the files.${goal === "decide" ? "" : " If you changed the graph or a choice, it looks for candidates again; all answers are kept, and people are asked only what is new."}`
    : "Go looks for candidates and prepares the cards that people judge.");
  at("go").hidden = Boolean(session); // of a graph, to decide is to go the same way again
  at("go").disabled = living || state === "new";
  at("decide-now").hidden = !session;
  at("decide-now").disabled = living;
  at("result-table").hidden = !decided;
  at("run-report").hidden = !report || living;
  at("no-runs").hidden = runs.length > 0;
  at("result").hidden = result.length === 0 || living;
  redraw("result-lines", result, () => result.map((text) => element("p", {}, text)));
  redraw("runs", runs, () => [...runs].reverse().map(drawRun));
  for (const run of runs) {
    if (states.has(run.id) && states.get(run.id) !== run.state) put("announce", `${WHAT[run.what]}: ${STATES[run.state]}`);
    states.set(run.id, run.state);
  }
}

function drawRun(run) {
  const left = run.left === null ? "" : `, this stage for about ${duration(run.left)} more`;
  const chip = element("span", { class: "chip", "data-state": run.state }, STATES[run.state]);
  const line = element("p", {}, element("strong", {}, WHAT[run.what]), " ", chip, `${left}${run.seconds ? ` · ${duration(run.seconds)}` : ""} `);
  if (["waiting", "running"].includes(run.state)) line.append(drawAct(run, "cancel", "Cancel"));
  if (["failed", "cancelled", "interrupted"].includes(run.state)) line.append(drawAct(run, "again", run.state === "failed" ? "Try again" : "Go on"));
  const stages = run.stages.map((stage, i) => drawStage(stage, run.state === "running" && i === run.stages.length - 1));
  const open = run.state === "failed" || (all(`details[data-run="${run.id}"]`)[0]?.open ?? false);
  const log = element("details", { "data-run": String(run.id), ...(open ? { open: "open" } : {}) },
    element("summary", {}, "Log and command"),
    element("pre", { class: "log", tabindex: "0", role: "log", "aria-label": `Log of run ${run.id}` }, (run.log.length ? run.log : [run.command]).join("\n")));
  return element("li", { class: run.state }, line, element("ul", { class: "stages" }, ...stages), log);
}

function drawStage(stage, living) {
  const share = stage.total ? Math.min(1, stage.done / stage.total) : living ? null : 1;
  const counted = stage.total ? `${number(stage.done)} of ${number(stage.total)}` : living ? "…" : "done";
  return element("li", {}, element("span", {}, stage.name), drawProgress(stage.name, share), element("span", { class: "fine" }, `${counted} · ${duration(stage.seconds)}`));
}

function drawAct(run, what, words) {
  return makeButton(words, () => send(`${home}/runs/${run.id}/${what}`, {}, "run-state").then(refresh), `${words}: ${WHAT[run.what]}`);
}

export function startRuns() {
  at("go").addEventListener("click", () => startRun("go"));
  at("decide-now").addEventListener("click", () => startRun("decide"));
  at("result-table").addEventListener("click", () => openTab("decide", true));
}
