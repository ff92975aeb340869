// @ts-check
// The projects, and a new one: from a title, from files that are dropped, or from the packaged graph.

import { at, bdi, count, element, makeButton, put, redraw, repeat, send } from "../draw.js";
import { remember, sendFiles, takeDrops } from "./upload.js";

async function refresh() {
  const studio = await send("api/studio", undefined, "state");
  if (!studio) return;
  put("about", `actc ${studio.version} · ${studio.folder}`);
  at("none").hidden = studio.projects.length > 0;
  redraw("projects", studio.projects, () => studio.projects.map(drawProject));
}

function drawProject(one) {
  const time = new Date(1000 * one.changed);
  return element("li", {},
    element("a", { href: `project/${encodeURIComponent(one.name)}` }, bdi(one.title)),
    element("span", { class: "chip", "data-state": one.state }, one.words.state),
    element("span", { class: "soft" }, [one.words.seeks, ...one.summary].join(" · ")),
    element("time", { class: "fine", datetime: time.toISOString() }, time.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })),
    makeButton("Delete", () => remove(one), `Delete: ${one.title}`));
}

async function remove({ name, title, answers }) {
  const what = `Its files${answers ? `, ${count(answers, "answer", "answers")}` : ""} and decisions are deleted, and its people’s links stop working. Nobody can bring them back.`;
  if (!confirm(`Delete “${title}” for good?\n\n${what}`)) return;
  if (await send(`api/projects/${encodeURIComponent(name)}`, {}, "deleted", "The project is deleted.", "DELETE")) refresh();
}

// Make a project, put files into it, and go there; that page shows what was not taken.
async function make(title, files = [], sample = false) {
  const made = await send("api/projects", { title, sample }, "made");
  if (!made) return;
  const { name } = made;
  const sent = await sendFiles(`api/projects/${name}`, files, at("uploads"));
  remember(name, sent);
  location.href = `project/${encodeURIComponent(name)}#data`;
}

function titleOf(file) {
  const words = file.name.replace(/(\.[A-Za-z0-9]{1,7}){1,2}$/, "").replace(/[-_]+/g, " ").trim();
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : "Project";
}

at("new").addEventListener("submit", () => make(at("new-title").value.trim() || "Project"));
at("sample").addEventListener("click", () => make(at("new-title").value.trim() || "Words and what they mean", [], true));
takeDrops(at("drop"), at("pick"), (files) => files.length && make(at("new-title").value.trim() || titleOf(files[0]), files));

repeat(refresh, () => 3000);
