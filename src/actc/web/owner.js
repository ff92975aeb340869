// @ts-check
// The owner's view: progress, who judges how, what holds for all, and the files to take.

import { all, at, bdi, copyText, download, drawRow, element, fetchJson, makeButton, number, percent, put, redraw, repeat, send, showWords } from "./draw.js";
import { showPicture, showProgress } from "./picture.js";
import { showReview, startReview } from "./review.js";

let latest = 0; // the last request: what an earlier one brings is old
let paused = false;
let outside = null; // the address by which other machines reach this server; null where they cannot

const rounded = (value, digits = 2) => (value === null || value === undefined ? "–" : value.toFixed(digits));

// Nothing can be pressed before the page knows what holds.
async function refresh() {
  const mine = (latest += 1);
  const { status, content } = await fetchJson("api/owner");
  if (mine !== latest) return;
  if (status === 200) {
    draw(content);
    at("main").inert = false;
    put("state", content.settings.paused ? "Paused" : content.trouble ? `No new questions: ${content.trouble}` : "Live");
  } else {
    put("state", status === 401 ? "Open the owner's link again" : "No answer, trying again");
  }
}

function draw(content) {
  const { budget } = content.progress;
  put("title", content.settings.title);
  showProgress(content.progress);
  showPicture(content.picture, content.progress.goal, 30);
  showWords(content.picture.words);
  at("file-accepted").download = content.picture.words.file;
  for (const link of all(".decides", at("files"))) link.hidden = content.picture.audit;
  redraw("people", content.people, () => content.people.filter((one) => one.judged > 0 || (one.kind !== "owner" && !one.void)).map(drawPerson));
  drawAgreement(content.agreement, content.settings.overlap);
  showReview(content.review);
  ({ address: outside, settings: { paused } } = content);
  put("pause", paused ? "Let them go on" : "Pause");
  if (document.activeElement !== at("budget")) at("budget").value = budget;
  const { overlap, method } = content.settings;
  if (document.activeElement !== at("overlap")) at("overlap").value = String(Number((100 * overlap).toFixed(4)));
  put("about", `Method: ${method}. What machines say is never counted as a label.`);
}

function drawPerson(one) {
  const haste = one.hasty >= 5 ? [" ", element("span", { class: "haste" }, `${one.hasty} answers in a row under a second`)] : [];
  const trust = one.reliability?.compared
    ? `${percent(one.reliability.right)} of ${one.reliability.compared} (${percent(one.reliability.low)} to ${percent(one.reliability.high)})`
    : "–";
  const link = element("span", { class: "links" });
  if (one.kind === "person") {
    const copy = makeButton("Copy", async (button) => showAddress(one.name, one.link, await copyText(addressOf(one.link), button)), `Copy link of ${one.name}`);
    link.append(one.void ? "no link" : copy, " ", actOn(one, "New", "New link for", false), ...(one.void ? [] : [" ", actOn(one, "Void", "Void link of", true)]));
  }
  return drawRow([bdi(one.name), ...haste], one.judged, one.true, one.false, one.unsure, rounded(one.seconds, 1), trust, link);
}

const addressOf = (link) => (outside ?? location.origin) + link;

function showAddress(name, link, copied = false) {
  const hint = outside ? "" : " Only this machine reaches it; for others, serve the session with: actc annotate SESSION --host 0.0.0.0";
  put("added", `${name}: ${addressOf(link)}${copied ? " is copied." : ""}${hint}`);
}

function actOn(one, words, meaning, makeVoid) {
  return makeButton(words, async () => {
    if (makeVoid && !confirm(`${one.name} cannot judge any more by this link. Make it void?`)) return;
    const changed = await send("api/owner/link", { name: one.name, void: makeVoid }, "added", `${one.name} has no link any more; the answers stay.`);
    if (changed?.link) showAddress(one.name, changed.link);
    refresh();
  }, `${meaning} ${one.name}`);
}

// How far people agree: 1 is always, 0 no more often than at random.
function drawAgreement({ shared, krippendorff }, overlap) {
  put("shared", number(shared));
  put("alpha", rounded(krippendorff));
  const none = overlap > 0 ? "No triple has two people's answers yet." : "Every triple goes to one person. Let two people judge some of them, below.";
  put("unshared", shared ? "" : none);
}

at("add").addEventListener("submit", async () => {
  const made = await send("api/owner/annotators", { name: at("name").value }, "added");
  if (!made) return;
  showAddress(made.name, made.link);
  at("name").value = "";
  refresh();
});

// Change what holds for everybody.
async function change(values) {
  await send("api/owner/change", values, "change-state");
  refresh();
}

at("spend").addEventListener("submit", () => {
  at("budget").blur();
  change({ budget: Number(at("budget").value) });
});
at("fifty").addEventListener("click", () => change({ budget: Number(at("budget").value) + 50 }));
at("share").addEventListener("submit", () => {
  at("overlap").blur();
  change({ overlap: Number(at("overlap").value) / 100 });
});
at("pause").addEventListener("click", () => change({ paused: !paused }));

at("files").addEventListener("click", (event) => download(event, "file-state"));

startReview(refresh);
repeat(refresh, () => 2000);
