// What goes in: files and their roles, what was recognised in them, the first card, and what is wanted.

import { directionOf, drawCard } from "../card.js";
import { element, fetchJson, put, redraw, sentenceOf } from "../draw.js";
import { change, count, home, number, project, refresh } from "./project.js";
import { bytes, sendFiles, takeDrops } from "./upload.js";

const at = (id) => document.getElementById(id);
const ROLES = { graph: "a graph", scores: "scored candidates", candidates: "candidates", names: "names", unused: "not used" };
let looked = null; // the files that the preview is of

export function showData(project) {
  at("files").hidden = project.files.length === 0;
  redraw("file-rows", project.files, () => project.files.map(drawFile));
  showOptions(project.options);
  const state = JSON.stringify([project.files, project.options.language, project.options.store]);
  if (state !== looked) preview(state);
}

function drawFile(file) {
  const roles = element("select", { "aria-label": `What ${file.name} is` }, ...Object.entries(ROLES).map(([role, words]) => element("option", { value: role }, words)));
  roles.value = file.role;
  const place = `${home}/files/${encodeURIComponent(file.name)}`;
  roles.addEventListener("change", () => act(fetchJson(place, { role: roles.value })));
  const remove = element("button", { type: "button", "aria-label": `Remove ${file.name}` }, "Remove");
  remove.addEventListener("click", () => act(fetchJson(place, {}, "DELETE")));
  return element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, file.name)), element("td", { class: "text" }, roles), element("td", {}, bytes(file.bytes)), element("td", {}, remove));
}

async function act(asked) {
  const reply = await asked;
  put("file-state", reply.status === 200 ? "" : sentenceOf(reply));
  refresh();
}

// Looking at a large file takes a while, and the page says so.
async function preview(state) {
  looked = state;
  if (project.files.length === 0) return drawPreview({}, project.options.store);
  at("recognised").replaceChildren(element("p", { class: "empty" }, "Looking at the files …"));
  const reply = await fetchJson(`${home}/preview`);
  if (state !== looked) return;
  drawPreview(reply.status === 200 ? reply.content : { problem: sentenceOf(reply) }, project.options.store);
}

function drawPreview(found, store) {
  at("problem").hidden = !found.problem;
  put("problem", found.problem ?? "");
  const parts = ["graph", "scores", "candidates"].filter((role) => found[role]).flatMap((role) => drawFound(role, found[role]));
  if (found.names) parts.push(element("p", {}, `Names: ${number(found.names.named)} of ${number(found.names.of)} ids have one.`));
  if (store) parts.unshift(element("p", {}, element("strong", {}, "The graph comes from the store: "), `Go reads it.${found.graph ? " The graph in the files is not used." : ""}`));
  if (parts.length === 0) parts.push(element("p", { class: "empty" }, "Nothing yet: drop a file."));
  at("recognised").replaceChildren(...parts);
  at("card").hidden = !found.card;
  at("no-card").hidden = Boolean(found.card);
  if (found.card) drawCard(found.card);
  at("why").parentElement.hidden = true; // nobody chose this card
}

const name = (text) => element("bdi", { dir: directionOf([{ text }]) }, text);

function drawFound(role, found) {
  const range = found.scores ? `, scores from ${found.scores[0].toPrecision(3)} to ${found.scores[1].toPrecision(3)}` : "";
  const columns = found.columns ? ` Columns: ${found.columns.join(", ")}.` : "";
  const head = element("tr", {}, ...["Head", "Relation", "Tail"].map((words) => element("th", { scope: "col", class: "text" }, words)));
  const rows = found.rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", { class: "text" }, name(cell)))));
  const relations = found.relations.map((one) => element("li", {}, name(one.relation), ` ${number(one.triples)}`));
  return [
    element("p", {}, element("strong", {}, `${found.format}: `), `${role === "graph" ? count(found.triples, "fact", "facts") : count(found.triples, "candidate", "candidates")}, ${count(found.entities, "thing", "things")}, ${count(found.relation_count, "relation", "relations")}${range}.${columns}`),
    ...found.notes.map((text) => element("p", { class: "fine" }, name(text))),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `First rows of the ${ROLES[role].replace("a ", "")}` }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows))),
    element("details", {}, element("summary", {}, "Relations"), element("ul", { class: "tags" }, ...relations)),
  ];
}

// Fields show what holds, unless somebody is in the middle of one.
function showOptions(options) {
  for (const radio of at("goals").querySelectorAll("input")) {
    radio.checked = radio.value === options.goal;
    radio.disabled = Boolean(project.session) && !radio.checked;
  }
  at("goal-stays").hidden = !project.session;
  for (const field of document.querySelectorAll("[data-option]")) {
    const value = options[field.dataset.option];
    if (field.type === "checkbox") field.checked = Boolean(value);
    else if (field !== document.activeElement) field.value = value ?? "";
  }
  for (const choice of document.querySelectorAll("[data-goals]")) choice.hidden = !choice.dataset.goals.split(" ").includes(options.goal);
  if (options.store) at("from-store").open = true;
}

function readField(field) {
  if (field.type === "checkbox") return field.dataset.on ? (field.checked ? field.dataset.on : "") : field.checked;
  return field.type === "number" ? Number(field.value) : field.value;
}

export function startData() {
  takeDrops(at("drop"), at("pick"), async (files) => {
    const refused = [];
    const roles = await sendFiles(home, files, at("uploads"), (file, reply) => refused.push(`${file.name}: ${sentenceOf(reply)}`));
    put("file-state", refused.join(" "));
    if (roles.includes("scores") && !project.session) await change({ goal: "decide" }, "option-state");
    refresh();
  });
  const before = `actc:refused:${at("main").dataset.name}`;
  put("file-state", sessionStorage.getItem(before) ?? "");
  sessionStorage.removeItem(before);
  at("goals").addEventListener("change", (event) => change({ goal: event.target.value }, "option-state"));
  for (const field of document.querySelectorAll("[data-option]")) {
    const place = field.form === at("store-form") ? "store-state" : "option-state";
    field.addEventListener("change", () => {
      if (field.checkValidity()) change({ [field.dataset.option]: readField(field) }, place);
      else put(place, `${field.labels[0].textContent.trim()}: ${field.validationMessage}`);
    });
  }
  for (const form of [at("options"), at("store-form")]) form.addEventListener("submit", (event) => event.preventDefault());
}
