// @ts-check
// What goes in: files and their roles, what was recognised in them, the first card, sentences, and what is wanted.

import { directionOf, drawCard } from "../card.js";
import { all, at, bdi, count, drawRow, element, fetchJson, fieldOf, makeButton, number, put, redraw, send, sentenceOf } from "../draw.js";
import { change, home, project, refresh } from "./state.js";
import { bytes, recall, sendFiles, takeDrops } from "./upload.js";

const ROLES = { graph: "a graph", scores: "scored candidates", candidates: "candidates", names: "names", unused: "not used" };
const PARTS = { head: "Head", relation: "Relation", tail: "Tail", score: "Score, if any", text: "Text, if any" };
let looked = null; // the files that the preview is of

export function showData({ files, options, state, session }) {
  at("data").dataset.state = state;
  at("files").hidden = files.length === 0;
  redraw("file-rows", files, () => files.map(drawFile));
  showOptions(options, session);
  const now = JSON.stringify([files, options.language, options.store]);
  if (now !== looked) preview(now);
}

const placeOf = (file) => `${home}/files/${encodeURIComponent(file)}`;
const setRole = (file, role) => send(placeOf(file), { role }, "file-state").then(refresh);

function drawFile(file) {
  const roles = element("select", { "aria-label": `What ${file.name} is` }, ...Object.entries(ROLES).map(([role, words]) => element("option", { value: role }, words)));
  roles.value = file.role;
  roles.addEventListener("change", () => setRole(file.name, roles.value));
  const remove = makeButton("Remove", () => send(placeOf(file.name), {}, "file-state", "", "DELETE").then(refresh), `Remove ${file.name}`);
  return drawRow([bdi(file.name)], roles, bytes(file.bytes), remove);
}

// Looking at a large file takes a while, and the page shows it.
async function preview(now) {
  looked = now;
  if (project.files.length === 0) return drawPreview({}, project.options.store);
  if (!at("recognised").querySelector("table")) at("recognised").replaceChildren(element("p", { class: "empty" }, "Looking at the files …"));
  const reply = await fetchJson(`${home}/preview`);
  if (now !== looked) return;
  drawPreview(reply.status === 200 ? reply.content : { problem: sentenceOf(reply) }, project.options.store);
}

function drawPreview(content, store) {
  at("problem").hidden = !content.problem;
  put("problem", content.problem ?? "");
  const parts = ["graph", "scores", "candidates"].filter((role) => content[role]).flatMap((role) => drawContent(role, content[role]));
  if (content.names) parts.push(element("p", {}, `Names: ${number(content.names.named)} of ${number(content.names.of)} ids have one.`));
  if (store) parts.unshift(element("p", {}, element("strong", {}, "The graph comes from the store: "), `Go reads it.${content.graph ? " The graph in the files is not used." : ""}`));
  if (parts.length === 0) parts.push(element("p", { class: "empty" }, "Nothing yet: drop a file."));
  at("recognised").replaceChildren(...parts, ...(content.columns ?? []).map(drawPicker));
  at("card").hidden = !content.card;
  at("no-card").hidden = Boolean(content.card);
  if (content.card) drawCard(content.card);
  at("why-line").hidden = true; // nobody chose this card
  at("sentences-sheet").hidden = !content.sentences?.length;
  redraw("sentences", content.sentences ?? [], () => (content.sentences ?? []).map(drawSentenceRow));
}

const name = (text) => bdi(text, { dir: directionOf([{ text }]) });

function drawTable(label, heads, rows) {
  const head = element("tr", {}, ...heads.map((words) => element("th", { scope: "col", class: "text" }, words)));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", { class: "text" }, name(cell)))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}

function drawContent(role, content) {
  const range = content.scores ? `, scores from ${content.scores[0].toPrecision(3)} to ${content.scores[1].toPrecision(3)}` : "";
  return [
    element("p", {}, element("strong", {}, `${content.format}: `), `${role === "graph" ? count(content.triples, "fact", "facts") : count(content.triples, "candidate", "candidates")}, ${count(content.entities, "thing", "things")}, ${count(content.relations, "relation", "relations")}${range}.`),
    ...content.notes.map((text) => element("p", { class: "fine" }, name(text))),
    drawTable(`First rows of the ${ROLES[role].replace("a ", "")}`, ["Head", "Relation", "Tail"], content.rows),
  ];
}

// Which columns of a table are what, where their names do not say it.
function drawPicker({ file, names, rows, surely }) {
  const header = element("input", { type: "checkbox", ...(names || surely ? {} : { checked: "checked" }) });
  const heads = names ?? rows[0];
  const fields = Object.entries(PARTS).map(([part, words], at) => {
    const select = element("select", { "data-part": part }, ...(at < 3 ? [] : [new Option("none", "")]), ...heads.map((cell, i) => element("option", { value: String(i + 1) }, cell || `column ${i + 1}`)));
    if (at < 3) select.value = String(Math.min(at + 1, heads.length));
    return element("label", {}, words, " ", select);
  });
  const state = element("p", { class: "reply", role: "status" });
  const form = element("form", {}, ...fields, ...(names ? [] : [element("label", { class: "check" }, header, " The first row is a heading")]), element("button", { type: "submit" }, "Read it so"));
  form.addEventListener("submit", async () => {
    const columns = Object.fromEntries([...form.querySelectorAll("select")].filter((one) => one.value).map((one) => [one.dataset.part, one.value]));
    const reply = await fetchJson(`${placeOf(file)}/columns`, { columns, header: header.checked });
    state.textContent = reply.status === 200 ? "" : sentenceOf(reply);
    if (reply.status === 200) refresh();
  });
  const table = names ? drawTable(`First rows of ${file}`, names, rows) : drawTable(`First rows of ${file}`, rows[0].map((_cell, i) => `Column ${i + 1}`), rows);
  return element("details", { class: "picker", ...(surely ? {} : { open: "open" }) }, element("summary", {}, surely ? "Other columns?" : `Which columns of ${file} are what?`), table, form, state);
}

// A sentence for each relation, as people read its facts: which of those that are offered reads well, a person sees.
function drawSentenceRow(line) {
  const words = line.name.replace(/(?<=[a-z])[A-Z](?=[a-z])/g, (capital) => ` ${capital.toLowerCase()}`).replaceAll("_", " ");
  const offered = [`{head} ${words} {tail}`, `{head} is ${words} {tail}`, `{tail} is the ${words} of {head}`, `{head} is the ${words} of {tail}`];
  const options = `sentence-${line.id}`;
  const field = element("input", { value: line.template, list: options, maxlength: "500", placeholder: offered[0], "aria-label": `Sentence for ${line.name}`, autocomplete: "off" });
  const shown = element("bdi", {});
  const show = () => {
    const template = field.value.includes("{head}") && field.value.includes("{tail}") ? field.value : offered[0];
    shown.textContent = template.replaceAll("{head}", line.head).replaceAll("{tail}", line.tail);
  };
  field.addEventListener("input", show);
  field.addEventListener("change", async () => {
    const body = { relation: line.id, template: field.value };
    if (await send(`${home}/sentences`, body, "sentence-state", "Saved: cards show it.")) refresh();
  });
  show();
  const list = element("datalist", { id: options }, ...offered.map((value) => element("option", { value })));
  return drawRow([name(line.name), " ", element("span", { class: "fine" }, number(line.triples))], element("div", { class: "pair" }, field, list), shown);
}

// Fields show what holds, unless somebody is in the middle of one.
function showOptions(options, session) {
  for (const radio of all("input", at("goals"))) {
    radio.checked = radio.value === options.goal;
    radio.disabled = Boolean(session) && !radio.checked;
  }
  at("goal-stays").hidden = !session;
  for (const field of all("[data-option]")) {
    const value = options[field.dataset.option ?? ""];
    if (field.type === "checkbox") field.checked = Boolean(value);
    else if (field !== document.activeElement) field.value = value ?? "";
  }
  if (options.store) at("from-store").open = true;
}

function readField(field) {
  if (field.type === "checkbox") return field.checked ? field.dataset.on : "";
  return field.type === "number" ? Number(field.value) : field.value;
}

export function startData() {
  takeDrops(at("drop"), at("pick"), async (files) => {
    put("file-state", (await sendFiles(home, files, at("uploads"))).join("\n"));
    refresh();
  });
  put("file-state", recall(at("main").dataset.name));
  at("goals").addEventListener("change", (event) => change({ goal: fieldOf(event).value }, "option-state"));
  for (const field of all("[data-option]")) {
    const place = field.form?.id === "store-form" ? "store-state" : "option-state";
    field.addEventListener("change", () => {
      if (field.checkValidity()) change({ [field.dataset.option ?? ""]: readField(field) }, place);
      else put(place, `${field.labels?.[0].textContent.trim()}: ${field.validationMessage}`);
    });
  }
}
