// @ts-check
// What comes out: files in every format, and publishing into a store, always looked at before it is written.

import { at, bdi, download, element, fetchJson, put, redraw } from "../draw.js";
import { home, project, startRun } from "./state.js";
import { bytes } from "./upload.js";

let seen = "";
let filled = false; // the fields of the store
let looked = {}; // what was shown before it may be written: store and graph, by publish or withdraw
let waits = null; // the run whose end is waited for

export function showTake({ accepted, runs, report, options }) {
  const state = JSON.stringify([accepted, runs.length, runs.at(-1)?.state]);
  at("store-sheet").hidden = accepted === null;
  at("take-report").hidden = !report;
  if (state !== seen) readTakes(state);
  if (!filled) { // what was published where is still there after a reload, to be withdrawn from there
    const first = { to: options.store.replace(/query$/, "update"), into: "", base: "", out_of: options.graph_iri, remove: false };
    const target = [...runs].reverse().find((run) => run.where)?.where ?? first;
    for (const name of ["to", "into", "base", "out_of"]) at(name).value = target[name];
    at("remove").checked = target.remove;
  }
  filled = true;
  follow();
}

async function readTakes(state) {
  seen = state;
  const { status, content } = await fetchJson(`${home}/downloads`);
  const files = status === 200 ? content : [];
  at("nothing-to-take").hidden = files.length > 0;
  redraw("takes", files, () => [...new Set(files.map((file) => file.group))].flatMap((group) => drawGroup(group, files.filter((file) => file.group === group))));
}

function drawGroup(title, files) {
  const [first, rest] = [false, true].map((rare) => files.filter((file) => file.rare === rare).map(drawTake));
  const more = rest.length ? [element("details", {}, element("summary", {}, "More formats"), element("div", {}, ...rest))] : [];
  return [element("dt", {}, title), element("dd", {}, ...first, ...more)];
}

function drawTake(file) {
  const words = [file.what, file.bytes ? bytes(file.bytes) : ""].filter(Boolean).join(", ");
  return element("a", { class: "button", href: `${home}/downloads/${encodeURIComponent(file.name)}`, download: file.name },
    bdi(file.name), element("span", { class: "fine" }, ` ${words}`));
}

function readTarget() {
  const fields = Object.fromEntries(new FormData(/** @type {any} */ (at("publish"))));
  return { ...fields, remove: at("remove").checked && ["check", "both"].includes(project.options.goal) };
}

function showWritable() {
  const now = JSON.stringify(readTarget());
  at("write").disabled = Boolean(waits) || looked.publish !== now;
  at("withdraw").disabled = Boolean(waits) || looked.withdraw !== now;
  at("out-of").hidden = !at("remove").checked;
}

async function act(what, write) {
  if (!at("publish").reportValidity()) return;
  const where = readTarget();
  const run = await startRun(what, { ...where, write }, "publish-state");
  if (run) waits = { id: run.id, what, write, target: JSON.stringify(where) };
  follow();
}

function follow() {
  const run = waits && project.runs.find((one) => one.id === waits.id);
  if (run) {
    at("published").hidden = false;
    put("published", run.log.join("\n") || "…");
    if (!run.living) {
      if (waits.write) looked = {};
      else if (run.state === "done") looked[waits.what] = waits.target;
      put("publish-state", run.state !== "done" ? "That did not work; the store's answer is above." : waits.write ? "Done." : "Nothing was written yet.");
      waits = null;
    }
  }
  showWritable();
}

export function startTake() {
  at("takes").addEventListener("click", (event) => download(event, "take-state"));
  at("publish").addEventListener("submit", () => act("publish", false));
  at("write").addEventListener("click", () => act("publish", true));
  at("withdraw-look").addEventListener("click", () => act("withdraw", false));
  at("withdraw").addEventListener("click", () => act("withdraw", true));
  at("store-sheet").addEventListener("input", showWritable);
}
