// @ts-check
// The projects, and a new one: from a title, from files that are dropped, or from the packaged graph.

import { at, count, element, fetchJson, letClose, makeButton, number, put, redraw, repeat, send } from "../draw.js";
import { remember, sendFiles, takeDrops } from "./upload.js";

async function refresh() {
  const studio = await send("api/studio", undefined, "state");
  if (!studio) return;
  const { projects, folder, version } = studio;
  put("about", `actc ${version} · ${folder}`);
  at("none").hidden = projects.length > 0;
  redraw("projects", projects, () => projects.map(drawProject));
}

function drawProject(one) {
  const parts = [one.words.seeks];
  if (one.answers !== null) parts.push(one.answers > one.budget ? `${count(one.answers, "card", "cards")} judged` : `${number(one.answers)} of ${count(one.budget, "card", "cards")} judged`);
  if (one.accepted !== null) parts.push(`${count(one.accepted, "fact", "facts")} ${one.words.accepted}`);
  const time = new Date(1000 * one.changed);
  return element("li", {},
    element("a", { href: `project/${encodeURIComponent(one.name)}` }, element("bdi", {}, one.title)),
    element("span", { class: "chip", "data-state": one.state }, one.words.state),
    element("span", { class: "soft" }, parts.join(" · ")),
    element("time", { class: "fine", datetime: time.toISOString() }, time.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })),
    drawDelete(one));
}

function drawDelete(one) {
  return makeButton("Delete", () => {
    put("ask-title", `Delete “${one.title}” for good?`);
    put("ask-more", `Its files${one.answers ? `, ${count(one.answers, "answer", "answers")}` : ""} and decisions are deleted, and its people’s links stop working. Nobody can bring them back.`);
    put("ask-state", "");
    agreed = `api/projects/${encodeURIComponent(one.name)}`;
    at("ask").showModal();
  }, `Delete: ${one.title}`);
}

let agreed = null; // what happens if the answer is yes

letClose(at("ask"));
at("ask-yes").addEventListener("click", async () => {
  if (!(await send(agreed, {}, "ask-state", "", "DELETE"))) return;
  at("ask").close();
  put("deleted", "The project is deleted.");
  await refresh();
});

// Make a project, put files into it, and go there; that page says what was not taken.
async function make(title, files = [], sample = false) {
  const made = await send("api/projects", { title, sample }, "made");
  if (!made) return;
  const { name } = made;
  const sent = await sendFiles(`api/projects/${name}`, files, at("uploads"));
  if (sent.roles.includes("scores")) await fetchJson(`api/projects/${name}`, { goal: "decide" });
  remember(name, sent);
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

repeat(refresh, () => 3000);
