// @ts-check
// What comes out: files in every format, and publishing into a store, always looked at before it is written.

import { at, download, element, fetchJson, put, redraw } from "../draw.js";
import { home, project, startRun } from "./state.js";
import { bytes } from "./upload.js";

let seen = null;
let filled = false; // the fields of the store
let looked = {}; // what was shown before it may be written: store and graph, by publish or withdraw
let waits = null; // the run whose end is waited for

export function showTake(project) {
  const state = JSON.stringify([project.accepted, project.runs.length, project.runs.at(-1)?.state]);
  if (state !== seen) readTakes(state);
  fill(project);
  follow(project);
}

async function readTakes(state) {
  seen = state;
  const { status, content } = await fetchJson(`${home}/downloads`);
  const files = status === 200 ? content : [];
  at("nothing-to-take").hidden = files.length > 0;
  at("store-sheet").hidden = project.accepted === null;
  at("take-report").hidden = !project.report;
  redraw("takes", files, () => drawGroups(files));
}

// What is there in several formats is a group, with a link for each; the rest is another.
const FIRST = [".tsv", ".csv", ".ttl", ".nt", ".jsonld", ".parquet"];
const OTHERS = "Reports and answers";

function drawGroups(files) {
  const groups = new Map();
  for (const file of files) {
    const [what, format] = file.what.split(": ");
    const title = format ? what : OTHERS;
    groups.set(title, [...(groups.get(title) ?? []), { ...file, words: format ?? what }]);
  }
  const place = ({ name }) => FIRST.indexOf(name.slice(name.indexOf(".")));
  return [...groups].flatMap(([title, some]) => {
    const first = title === OTHERS ? some : some.filter((file) => place(file) >= 0).sort((a, b) => place(a) - place(b));
    const rest = some.filter((file) => !first.includes(file));
    const more = rest.length ? [element("details", {}, element("summary", {}, "More formats"), element("div", {}, ...rest.map(drawTake)))] : [];
    return [element("dt", {}, title.charAt(0).toUpperCase() + title.slice(1)), element("dd", {}, ...first.map(drawTake), ...more)];
  });
}

function drawTake(file) {
  const words = [file.words, file.bytes ? bytes(file.bytes) : ""].filter(Boolean).join(", ");
  return element("a", { class: "button", href: `${home}/downloads/${encodeURIComponent(file.name)}`, download: file.name },
    element("bdi", {}, file.name), element("span", { class: "fine" }, ` ${words}`));
}

const FIELDS = { to: "to", into: "into", base: "base", out_of: "out_of" };

function target() {
  const fields = Object.fromEntries(Object.entries(FIELDS).map(([name, id]) => [name, at(id).value]));
  return { ...fields, remove: at("remove").checked && ["check", "both"].includes(project.options.goal) };
}

// What was published where is still there after a reload, to be withdrawn from there.
function fill(project) {
  if (filled) return;
  filled = true;
  for (const [name, id] of Object.entries(FIELDS)) at(id).value = project.target[name];
  at("remove").checked = project.target.remove;
}

function showWritable() {
  const now = JSON.stringify(target());
  at("write").disabled = Boolean(waits) || looked.publish !== now;
  at("withdraw").disabled = Boolean(waits) || looked.withdraw !== now;
  at("out-of").hidden = !at("remove").checked;
}

async function act(what, write) {
  if (!at("publish").reportValidity()) return;
  put("publish-state", "");
  const where = target();
  const run = await startRun(what, { ...where, write }, "publish-state");
  if (!run) return;
  waits = { id: run.id, what, write, target: JSON.stringify(where) };
  follow(project);
}

function follow(project) {
  const run = waits && project.runs.find((one) => one.id === waits.id);
  if (run) {
    at("published").hidden = false;
    put("published", run.log.join("\n") || "…");
    if (!["waiting", "running"].includes(run.state)) {
      if (run.state === "done" && !waits.write) looked[waits.what] = waits.target;
      if (waits.write) looked = {};
      put("publish-state", run.state === "done" ? (waits.write ? "Done." : "Nothing was written yet.") : "That did not work; the store's answer is above.");
      waits = null;
    }
  }
  showWritable();
}

export function startTake() {
  at("takes").addEventListener("click", (event) => download(event, "take-state"));
  at("publish").addEventListener("submit", (event) => {
    event.preventDefault();
    act("publish", false);
  });
  at("write").addEventListener("click", () => act("publish", true));
  at("withdraw-look").addEventListener("click", () => act("withdraw", false));
  at("withdraw").addEventListener("click", () => act("withdraw", true));
  for (const id of ["to", "into", "base", "out_of", "remove"]) at(id).addEventListener("input", showWritable);
}
