// @ts-check
// What runs, how far it is, what came of it, and how to end it or let it go on.

import { all, at, drawProgress, element, makeButton, number, put, redraw, send } from "../draw.js";
import { home, openTab, refresh, startRun } from "./state.js";

const states = new Map();

function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export function showRuns({ runs, session, state, result, report, decided, means }) {
  const living = runs.some((run) => run.living);
  put("run-means", means);
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
    if (states.has(run.id) && states.get(run.id) !== run.state) put("announce", `${run.title}: ${run.words}`);
    states.set(run.id, run.state);
  }
}

// How many seconds the stage that runs will take, by how it went so far: nobody knows what comes after it.
function timeLeft({ state, stages }) {
  const { done, total, seconds } = stages.at(-1) ?? {};
  return state === "running" && done > 0 && done < total ? (seconds * (total - done)) / done : null;
}

function drawRun(run) {
  const left = timeLeft(run);
  const line = element("p", {}, element("strong", {}, run.title), " ", element("span", { class: "chip", "data-state": run.state }, run.words),
    run.seconds ? ` ${duration(run.seconds)}` : "", left === null ? " " : `, this stage needs about ${duration(left)} more `);
  if (run.living) line.append(drawAct(run, "cancel", "Cancel"));
  else if (run.state !== "done") line.append(drawAct(run, "again", run.state === "failed" ? "Try again" : "Go on"));
  const open = run.state === "failed" || (all(`details[data-run="${run.id}"]`)[0]?.open ?? false);
  const log = element("details", { "data-run": String(run.id), ...(open ? { open: "open" } : {}) },
    element("summary", {}, "Log and command"),
    element("pre", { class: "log", tabindex: "0", role: "log", "aria-label": `Log of run ${run.id}` }, (run.log.length ? run.log : [run.command]).join("\n")));
  const stages = run.stages.map((stage, i) => drawStage(stage, run.state === "running" && i === run.stages.length - 1));
  return element("li", { class: run.state }, line, element("ul", { class: "stages" }, ...stages), log);
}

function drawStage(stage, living) {
  const share = stage.total ? stage.done / stage.total : living ? null : 1;
  const counted = stage.total ? `${number(stage.done)} of ${number(stage.total)}` : living ? "…" : "done";
  return element("li", {}, element("span", {}, stage.name), drawProgress(stage.name, share), element("span", { class: "fine" }, `${counted} · ${duration(stage.seconds)}`));
}

function drawAct(run, what, words) {
  return makeButton(words, () => send(`${home}/runs/${run.id}/${what}`, {}, "run-state").then(refresh), `${words}: ${run.title}`);
}

export function startRuns() {
  at("go").addEventListener("click", () => startRun("go"));
  at("decide-now").addEventListener("click", () => startRun("decide"));
  at("result-table").addEventListener("click", () => openTab("decide", true));
}
