// The owner's view: progress, who judges how, and the word that settles a disagreement.

import { element, fetchJson, percent, put, showCurve, showProgress, showRelations } from "/files/draw.js";

const at = (id) => document.getElementById(id);
let paused = false;
const settling = new Map(); // triple -> key: pressing twice settles once

function number(value, digits = 2) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

async function refresh() {
  const { status, content } = await fetchJson("/api/owner");
  if (status === 200) {
    draw(content);
    put("state", content.paused ? "Paused" : "Live");
  } else {
    put("state", status === 401 ? "Open the owner's link again" : "No answer, trying again");
  }
}

function draw(content) {
  const { budget } = content.progress;
  put("title", content.title);
  showProgress(content.progress);
  put("advice", content.picture.advice);
  showCurve(at("curve"), content.picture.curve, budget);
  showRelations(at("relations"), content.picture.relations.slice(0, 10));
  redraw("people", content.people, content.people.filter((one) => one.judged > 0 || (one.kind !== "owner" && !one.void)).map(drawPerson));
  drawAgreement(content.agreement, content.settings.overlap);
  redraw("review", content.disagreements, content.disagreements.map(drawDisagreement));
  at("no-review").hidden = content.disagreements.length > 0;
  paused = content.paused;
  put("pause", paused ? "Let them go on" : "Pause");
  if (document.activeElement !== at("budget")) at("budget").value = budget;
  const others = content.agreement.rules.filter((one) => one.changed > 0).map((one) => `by ${one.rule}, ${one.changed.toLocaleString("en")} of ${one.labels.toLocaleString("en")} labels would differ`);
  put("rules", others.length ? `Combined ${others.join("; ")}.` : "");
  put("rule", `Answers to one triple are combined by ${content.settings.combine}; a tie is no label until it is settled. ` +
    `${percent(content.settings.overlap)} of the triples go to two people, ${percent(content.settings.repeats)} of the cards are hidden repeats. ` +
    `Method: ${content.settings.method}. What programs say is never counted as a label.`);
}

// Redrawn only when something changed, so that focus and selection stay.
function redraw(id, state, rows) {
  const text = JSON.stringify(state);
  if (at(id).dataset.state === text) return;
  at(id).dataset.state = text;
  at(id).replaceChildren(...rows);
}

function drawPerson(one) {
  const name = element("td", {}, element("bdi", {}, one.name), " ");
  if (one.kind !== "person" && one.kind !== one.name) name.append(element("span", { class: "kind" }, one.kind));
  const cells = [one.judged, one.true, one.false, one.unsure, number(one.seconds, 1)].map((value) => element("td", {}, String(value)));
  const repeats = one.repeats.shown ? `${one.repeats.same} of ${one.repeats.shown}` : "–";
  const trust = one.reliability?.compared
    ? `${percent(one.reliability.right)} of ${one.reliability.compared} (${percent(one.reliability.low)} to ${percent(one.reliability.high)})`
    : "–";
  if (one.hasty >= 5) name.append(element("span", { class: "haste" }, `${one.hasty} answers in a row under a second`));
  const link = element("td", { class: "links" });
  if (one.kind === "person" && one.void) {
    link.append("no link ", actOn(one, "New", "New link for", false));
  } else if (one.kind === "person") {
    const copy = element("button", { type: "button", "aria-label": `Copy link of ${one.name}` }, "Copy");
    copy.addEventListener("click", () => copyLink(one, copy));
    link.append(copy, " ", actOn(one, "New", "New link for", false), " ", actOn(one, "Void", "Void link of", true));
  }
  return element("tr", {}, name, ...cells, element("td", {}, repeats), element("td", {}, trust), link);
}

function actOn(one, words, meaning, makeVoid) {
  const button = element("button", { type: "button", "aria-label": `${meaning} ${one.name}` }, words);
  button.addEventListener("click", async () => {
    const { status, content } = await fetchJson("/api/owner/link", { name: one.name, void: makeVoid });
    const done = content?.link ? `${one.name}: ${location.origin}${content.link}` : `${one.name} has no link any more; the answers stay.`;
    put("added", status === 200 ? done : String(content?.detail ?? "That did not work."));
    refresh();
  });
  return button;
}

async function copyLink(one, button) {
  const address = location.origin + one.link;
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = "Copied";
  } catch {
    put("added", `${one.name}: ${address}`);
  }
}

function drawAgreement(agreement, overlap) {
  const numbers = [
    ["Judged by two or more", String(agreement.shared)],
    ["Krippendorff’s alpha", number(agreement.krippendorff)],
    ["Fleiss’ kappa", number(agreement.fleiss)],
  ];
  redraw("agreement", agreement, numbers.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  const pairs = agreement.pairs.slice(0, 12).map((pair) => `${pair.first} and ${pair.second} ${number(pair.cohen)}`);
  const none = overlap > 0 ? "No triple has two people's answers yet." : "Every triple goes to one person. A session started with --overlap 0.2 has a fifth of them judged twice.";
  put("pairs", pairs.length ? `Cohen’s kappa: ${pairs.join(", ")}.` : none);
}

function drawDisagreement(line) {
  const parts = line.sentence.map((part) => (part.role ? element("bdi", { class: part.role }, part.text) : part.text));
  const what = element("p", { class: "what" }, ...parts);
  const who = element("p", { class: "who" });
  line.answers.forEach((one, i) => {
    who.append(i ? " · " : "", element("bdi", {}, one.name), ": ", element("span", { class: `said-${one.said}` }, one.said));
    if (one.note) who.append(" “", element("bdi", {}, one.note), "”");
  });
  const decide = element("div", { class: "decide", role: "group", "aria-label": "Your decision" });
  for (const [said, label] of [["false", "False"], ["unsure", "Not sure"], ["true", "True"]]) {
    const button = element("button", { type: "button", class: said }, label);
    button.addEventListener("click", () => settle(line.triple, said, decide));
    decide.append(button);
  }
  return element("li", {}, what, who, decide);
}

async function settle(triple, said, group) {
  for (const button of group.children) button.disabled = true;
  const name = `${triple}:${said}`;
  if (!settling.has(name)) settling.set(name, `${Date.now()}-${triple}-${said}`);
  await fetchJson("/api/owner/settle", { triple, said, key: settling.get(name) });
  await refresh();
}

at("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { status, content } = await fetchJson("/api/owner/annotators", { name: at("name").value });
  put("added", status === 200 ? `${content.name}: ${location.origin}${content.link}` : String(content?.detail ?? "That did not work."));
  if (status === 200) at("name").value = "";
  refresh();
});
at("spend").addEventListener("submit", async (event) => {
  event.preventDefault();
  await fetchJson("/api/owner/budget", { budget: Number(at("budget").value) });
  at("budget").blur();
  refresh();
});

at("pause").addEventListener("click", async () => {
  await fetchJson("/api/owner/pause", { paused: !paused });
  refresh();
});

async function keepFresh() {
  if (!document.hidden) await refresh();
  setTimeout(keepFresh, 2000);
}
keepFresh();
