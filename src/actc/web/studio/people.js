// @ts-check
// Who judges: links that other machines reach, how far the cards are, the end of it, and an audit.

import { all, at, bdi, copyText, element, fetchJson, makeButton, number, put, redraw, send, showShare, showWords } from "../draw.js";
import { change, home, project, refresh, startRun } from "./state.js";

let read = null; // after how many answers the list of people was read

export function showPeople(project) {
  const { session } = project;
  at("no-session").hidden = Boolean(session);
  for (const part of all(".with-session", at("people"))) part.hidden = !session;
  if (!session) return;
  put("judged", project.summary[0] + (session.unsure ? `, ${number(session.unsure)} not sure` : ""));
  showShare(at("progress"), session.answers / session.budget);
  at("judge-now").href = session.judge;
  at("owner-page").href = session.owner;
  at("more").hidden = session.paused || session.answers < session.budget;
  put("finish", session.paused ? "Go on asking" : "Finish: ask nobody any more");
  put("finish-state", session.paused ? "Nobody judges any more. Decide, or go on." : "");
  showAudit(project);
  if (read !== session.answers) readPeople(session);
}

async function readPeople(session) {
  read = session.answers;
  const { status, content } = await fetchJson(`${home}/people`);
  if (status !== 200) return;
  const alone = content.every((one) => !one.address);
  put("reach", alone
    ? "Only this machine reaches these links. For others, start the studio with: actc studio --host 0.0.0.0"
    : "Give each person a link of their own: it opens on a phone, a tablet or another computer.");
  redraw("persons", content, () => content.map(drawPerson));
}

function drawPerson(one) {
  const line = element("li", {}, bdi(one.name));
  if (!one.link) line.append(element("span", { class: "soft" }, "no link any more"));
  if (!one.link) return line;
  const address = one.address ?? location.origin + one.link;
  line.append(makeButton("Copy link", async (button) => {
    put("added", (await copyText(address, button)) ? `The link of ${one.name} is copied.` : `${one.name}: ${address}`);
  }, `Copy link of ${one.name}`));
  if (one.qr) line.append(makeButton("QR code", () => showCode(one, address), `QR code of ${one.name}`, { "aria-haspopup": "dialog" }));
  return line;
}

// The code is a drawing that our own server made.
function showCode(one, address) {
  const drawing = /** @type {SVGElement} */ (new DOMParser().parseFromString(one.qr, "text/html").querySelector("svg"));
  drawing.setAttribute("aria-hidden", "true");
  at("qr-code").replaceChildren(document.importNode(drawing, true));
  put("qr-title", `Scan this to judge as ${one.name}`);
  put("qr-address", address);
  at("qr").showModal();
}

// A share may be written as 90 or as .9.
function readTarget() {
  const target = Number(at("target").value);
  return target < 1 ? target : target / 100;
}

function showAudit(project) {
  const { audit, audit_needs: { sentence, answers } } = project;
  const run = project.runs.findLast((one) => one.what === "audit");
  const began = { done: "The audit has begun: judge its cards, alone or with others.", failed: run?.log.at(-1) };
  showWords(project.words);
  put("need", run ? began[run.state] ?? "Drawing …" : sentence);
  const known = answers[readTarget()];
  if (known && !at("count-audit").dataset.touched) at("count-audit").value = String(known);
  at("begin-audit").disabled = !project.accepted;
  at("audit-links").hidden = !audit;
  if (!audit) return;
  at("audit-judge").href = audit.judge;
  at("audit-owner").href = audit.owner;
  put("audit-count", `${number(audit.answers)} of ${number(audit.budget)} judged`);
}

export function startPeople() {
  at("add").addEventListener("submit", async () => {
    const made = await send(`${home}/people`, { name: at("person").value }, "added");
    if (made) put("added", `${made.name}: ${made.address ?? location.origin + made.link}`);
    if (made) at("person").value = "";
    read = null;
    refresh();
  });
  at("finish").addEventListener("click", async () => {
    await send(`${home}/finish`, { finished: !project.session.paused }, "finish-state");
    refresh();
  });
  at("more").addEventListener("click", () => change({ budget: project.session.budget + 50 }, "finish-state"));
  at("count-audit").addEventListener("input", () => (at("count-audit").dataset.touched = "yes"));
  at("target").addEventListener("change", () => showAudit(project));
  at("audit").addEventListener("submit", () => startRun("audit", { target: readTarget(), count: Number(at("count-audit").value) }, "audit-state"));
}
