// @ts-check
// The page of a project: where it stands, what to do next, and its tabs.

import { all, at, copyText, letClose, pressed, put, repeat } from "../draw.js";
import { showData, startData } from "./data.js";
import { showDecide, startDecide } from "./decide.js";
import { showPeople, startPeople } from "./people.js";
import { showRuns, startRuns } from "./runs.js";
import { openTab, project, refresh, start, startRun, tab } from "./state.js";
import { showTake, startTake } from "./take.js";

const SHOW = { data: showData, run: showRuns, people: showPeople, decide: showDecide, take: showTake };

function draw() {
  const { next, options, words } = project;
  put("title", project.title);
  document.title = `${project.title} · actc`;
  put("chip", words.state);
  at("chip").dataset.state = project.state;
  put("summary", project.summary.join(" · "));
  put("next-sentence", next.sentence);
  at("next-sentence").dataset.what = next.what;
  // One filled button a page: the one here, or on its tab the one that does it.
  at("next-go").hidden = !next.button || (tab === next.tab && !["go", "judge"].includes(next.what));
  put("next-go", next.button);
  at("guarantee").classList.toggle("go", next.what === "decide");
  for (const place of ["commands", "take-commands"]) put(place, project.commands.join("\n"));
  for (const part of all("[data-goals]")) part.hidden = !part.dataset.goals?.split(" ").includes(options.goal);
  SHOW[tab](project);
}

at("next-go").addEventListener("click", async () => {
  const { next, session } = project;
  if (next.what === "judge" && session) return open(session.judge, "_blank", "noopener");
  if (next.what === "go") await startRun("go");
  openTab(next.tab, true);
});

document.addEventListener("click", (event) => {
  const button = pressed(event, "[data-copy]");
  if (button?.dataset.copy) copyText(at(button.dataset.copy).textContent, button);
});

letClose(at("qr"));
for (const begin of [startData, startRuns, startPeople, startDecide, startTake]) begin();
start(draw);
repeat(refresh, () => (project?.state === "running" ? 1000 : 2500));
localStorage.setItem("studio", new URL("..", location.href).pathname); // for the way back from a page on which people judge
