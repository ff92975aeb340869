// The projects, and a new one: from a title, from files that are dropped, or from the packaged graph.

import { element, fetchJson, letClose, put, sentenceOf } from "../draw.js";
import { sendFiles, takeDrops } from "./upload.js";

const at = (id) => document.getElementById(id);
const GOALS = { complete: "missing facts", check: "wrong facts", both: "missing and wrong facts", decide: "scored candidates" };
const STATES = {
  new: "waits for a graph", ready: "ready to go", running: "at work", asking: "people judge", decided: "decided", failed: "did not work",
};
const count = (value, one, many) => `${value.toLocaleString("en")} ${value === 1 ? one : many}`;
let shown = "";

async function refresh() {
  const reply = await fetchJson("api/studio");
  put("state", reply.status === 200 ? "" : sentenceOf(reply));
  if (reply.status !== 200) return;
  const { projects, folder, version } = reply.content;
  put("about", `actc ${version} · ${folder}`);
  at("none").hidden = projects.length > 0;
  const state = JSON.stringify(projects);
  if (state === shown) return;
  shown = state;
  at("projects").replaceChildren(...projects.map(drawProject));
}

function drawProject(one) {
  const parts = [GOALS[one.goal], STATES[one.state] ?? one.state];
  if (one.answers !== null) parts.push(one.answers > one.budget ? `${count(one.answers, "card", "cards")} judged` : `${one.answers.toLocaleString("en")} of ${count(one.budget, "card", "cards")} judged`);
  if (one.accepted !== null) parts.push(`${count(one.accepted, "fact", "facts")} ${one.goal === "check" ? "taken out" : "accepted"}`);
  return element("li", {},
    element("a", { href: `project/${encodeURIComponent(one.name)}` }, element("bdi", {}, one.title)),
    element("span", { class: "soft" }, parts.join(" · ")),
    drawTime(one.changed),
    drawDelete(one));
}

function drawTime(seconds) {
  const time = new Date(1000 * seconds);
  return element("time", { class: "fine", datetime: time.toISOString() }, time.toLocaleString());
}

function drawDelete(one) {
  const button = element("button", { type: "button", "aria-label": `Delete: ${one.title}` }, "Delete");
  button.addEventListener("click", () => {
    put("ask-title", `Delete “${one.title}” for good?`);
    put("ask-more", `Its files${one.answers ? `, ${count(one.answers, "answer", "answers")}` : ""} and decisions are deleted, and its people’s links stop working. Nobody can bring them back.`);
    put("ask-state", "");
    agreed = `api/projects/${encodeURIComponent(one.name)}`;
    at("ask").showModal();
  });
  return button;
}

let agreed = null; // what happens if the answer is yes

letClose(at("ask"));
at("ask-yes").addEventListener("click", async () => {
  const reply = await fetchJson(agreed, {}, "DELETE");
  if (reply.status !== 200) return put("ask-state", sentenceOf(reply));
  at("ask").close();
  put("deleted", "The project is deleted.");
  await refresh();
});

// Make a project, put files into it, and go there; what is not taken is said there.
async function make(title, files = [], sample = false) {
  put("made", "");
  const reply = await fetchJson("api/projects", { title, sample });
  if (reply.status !== 200) return put("made", sentenceOf(reply));
  const { name } = reply.content;
  const refused = [];
  const roles = await sendFiles(`api/projects/${name}`, files, at("uploads"), (file, bad) => refused.push(`${file.name}: ${sentenceOf(bad)}`));
  if (roles.includes("scores")) await fetchJson(`api/projects/${name}`, { goal: "decide" });
  if (refused.length) sessionStorage.setItem(`actc:refused:${name}`, refused.join("\n"));
  location.href = `project/${encodeURIComponent(name)}#data`;
}

function titleOf(file) {
  const words = file.name.replace(/(\.[A-Za-z0-9]{1,7}){1,2}$/, "").replace(/[-_]+/g, " ").trim();
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : "Project";
}

at("new").addEventListener("submit", (event) => {
  event.preventDefault();
  make(at("new-title").value.trim() || "Project");
});
at("sample").addEventListener("click", () => make(at("new-title").value.trim() || "Words and what they mean", [], true));
takeDrops(at("drop"), at("pick"), (files) => files.length && make(at("new-title").value.trim() || titleOf(files[0]), files));

async function keepFresh() {
  if (!document.hidden) await refresh();
  setTimeout(keepFresh, 3000);
}
keepFresh();
