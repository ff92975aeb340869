// What both pages draw with. Text always goes in as text: names come from strangers.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== "") made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function put(id, text) {
  const target = document.getElementById(id);
  if (target.textContent !== text) target.textContent = text;
}

// Replace the children of a place only where what they show has changed: fields and focus stay.
export function redraw(id, state, make) {
  const place = document.getElementById(id);
  const text = JSON.stringify(state);
  if (place.dataset.state === text) return;
  place.dataset.state = text;
  place.replaceChildren(...make());
}

// A dialog closes by each of its buttons for that, and by a press beside it.
export function letClose(dialog) {
  for (const button of dialog.querySelectorAll("[data-close]")) button.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", ({ target, clientX, clientY }) => {
    const box = dialog.getBoundingClientRect();
    const inside = clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
    if (target === dialog && !inside) dialog.close();
  });
}

// A name of the sender's own for what is sent: sent twice, it is stored once.
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function fetchJson(path, body, method = "POST") {
  const options = body === undefined ? {} : {
    method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  try {
    const response = await fetch(path, { ...options, cache: "no-store" });
    return { status: response.status, content: await response.json() };
  } catch {
    return { status: 0, content: null };
  }
}

// What a server says of a request that it did not take.
export function sentenceOf({ status, content }, otherwise = "That did not work.") {
  if (status === 0) return "The server does not answer. Is it still running?";
  if (Array.isArray(content?.detail) && content.detail.length) return `${content.detail[0].loc.at(-1)}: ${content.detail[0].msg}.`;
  return typeof content?.detail === "string" ? content.detail : otherwise;
}

// A file that takes a while is made while the page says so; one that cannot be made leaves a sentence.
export async function download(event, place) {
  const link = event.target.closest("a");
  if (!link) return;
  event.preventDefault();
  put(place, `${link.download} is being made …`);
  try {
    const response = await fetch(link.href, { cache: "no-store" });
    if (!response.ok) return put(place, String((await response.json()).detail));
    const here = URL.createObjectURL(await response.blob());
    element("a", { href: here, download: link.download }).click();
    setTimeout(() => URL.revokeObjectURL(here), 60_000);
    put(place, `${link.download} is ready.`);
  } catch {
    put(place, "The server does not answer.");
  }
}

function shape(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// How far a session is: never "41 of 10", and of one candidate never "of 100".
export function showProgress({ labels, unsure, goal }) {
  const [done, all] = [labels.toLocaleString("en"), goal.toLocaleString("en")];
  const open = unsure ? ` · ${unsure.toLocaleString("en")} not sure` : "";
  put("count", (labels > goal ? `${done} judged, budget ${all}` : `${done} of ${all}`) + open);
  const bar = document.getElementById("progress");
  bar.setAttribute("aria-valuemax", goal);
  bar.setAttribute("aria-valuenow", Math.min(labels, goal));
  bar.firstElementChild.style.width = `${Math.min(100, (100 * labels) / goal)}%`;
}

// What the answers say so far: of a session, of its decisions; of an audit, of the accepted triples.
export function showPicture(picture, goal, most) {
  const { words, audit } = picture;
  if (audit) put("buys", "What the audit says");
  put("by-relation", words.by_relation);
  put("advice", picture.advice);
  showCurve(document.getElementById("curve"), picture.curve, goal, words);
  showRelations(document.getElementById("relations"), picture.relations.slice(0, most), words, audit);
}

// Expected accuracy (of an audit: the share that is what was sought) by number of answers, with its interval.
function showCurve(figure, points, budget, words) {
  // Undone answers and new disagreements take labels away again: the latest refit speaks for each number of answers.
  const curve = [...new Map(points.map((point) => [point[0], point])).values()].sort((a, b) => a[0] - b[0]);
  const latest = points.at(-1);
  const state = JSON.stringify([points, budget]);
  if (figure.dataset.state === state) return;
  figure.dataset.state = state;
  if (curve.length === 0) {
    figure.replaceChildren(element("figcaption", {}, words.soon));
    return;
  }
  const most = Math.max(budget, ...curve.map((point) => point[0]), 1);
  const title = `${words.share} by answers: now ${percent(latest[1])} after ${latest[0]} answers`;
  const drawing = drawChart(curve, { title, most, ends: ["0 answers", most.toLocaleString("en")], dot: latest });
  const interval = latest[2] === null ? "" : `, 90 % interval ${percent(latest[2])} to ${percent(latest[3])}`;
  const caption = element("figcaption", {}, element("strong", {}, percent(latest[1], 1)), ` ${words.now}${interval}.`);
  figure.replaceChildren(drawing, caption);
}

// Shares by a count, with their interval, as a line in a band; ``dot`` is a point of it.
export function drawChart(curve, { title, most, ends, dot }) {
  const [width, height, left, bottom, top, right] = [320, 170, 40, 24, 10, 12];
  const values = curve.flatMap((point) => point.slice(1).filter((value) => value !== null));
  const low = Math.max(0, Math.floor(Math.min(...values) * 20 - 0.2) / 20);
  const high = Math.min(1, Math.ceil(Math.max(...values) * 20 + 0.2) / 20);
  const x = (count) => left + ((width - left - right) * count) / most;
  const y = (value) => height - bottom - ((height - bottom - top) * (value - low)) / (high - low || 1);
  const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  drawing.append(shape("title", {}, title));
  for (const value of ticks(low, high)) {
    drawing.append(shape("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    drawing.append(shape("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, percent(value)));
  }
  ends.forEach((words, i) => drawing.append(shape("text", { x: i ? x(most) : left, y: height - 6, "text-anchor": i ? "end" : "start" }, words)));
  const band = curve.filter((point) => point[2] !== null && point[3] !== null);
  const edge = (place) => band.map((point) => `${x(point[0])},${y(point[place])}`);
  if (band.length > 1) {
    drawing.append(shape("polygon", { class: "band", points: [...edge(3), ...edge(2).reverse()].join(" ") }));
    for (const place of [2, 3]) drawing.append(shape("polyline", { class: "bound", points: edge(place).join(" ") }));
  }
  drawing.append(shape("polyline", { class: "line", points: curve.map((point) => `${x(point[0])},${y(point[1])}`).join(" ") }));
  if (dot) drawing.append(shape("circle", { class: "dot", cx: x(dot[0]), cy: y(dot[1]), r: 4 }));
  return drawing;
}

// How many candidates of a relation have which score: dark what is accepted, light what is not.
export function drawBins({ bins, accepted_bins: taken }, [low, high], title) {
  const [width, height, bottom] = [200, 70, 14];
  const most = Math.max(1, ...bins);
  const step = width / bins.length;
  const tall = (count) => (height - bottom - 4) * (count / most);
  const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  drawing.append(shape("title", {}, title));
  for (const [style, counts] of [["rejected", bins], ["accepted", taken]]) {
    counts.forEach((count, i) => count && drawing.append(shape("rect", { class: style, x: i * step + 0.5, y: height - bottom - tall(count), width: step - 1, height: tall(count) })));
  }
  drawing.append(shape("line", { class: "axisline", x1: 0, x2: width, y1: height - bottom, y2: height - bottom }));
  [low, high].forEach((score, i) => drawing.append(shape("text", { x: i * width, y: height - 3, "text-anchor": i ? "end" : "start" }, score.toPrecision(2))));
  return drawing;
}

function ticks(low, high) {
  const step = high - low > 0.31 ? 0.1 : 0.05;
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + 1e-9; value += step) found.push(value);
  return found;
}

export function percent(share, digits = 0) {
  return `${(100 * share).toFixed(digits)}\u00a0%`;
}

// Each relation's accepted share, and how it moved.
function showRelations(list, relations, words, audit) {
  const state = JSON.stringify(relations);
  if (list.dataset.state === state) return;
  list.dataset.state = state;
  list.replaceChildren(...relations.map((line) => drawRelation(line, words, audit)));
}

function drawRelation(line, words, audit) {
  const bar = element("span", { class: "meter" }, element("span", {}));
  bar.firstChild.style.width = `${100 * line.share}%`;
  const cut = line.cut === null ? "no cut: all or none" : `from score ${line.cut.toPrecision(3)}`;
  const title = audit
    ? `${line.name}: ${percent(line.share, 1)} of ${line.labels} judged are ${words.true}, ${line.triples} ${words.accepted} in all`
    : `${line.name}: ${percent(line.share, 1)} of ${line.triples} ${words.accepted}, ${cut}, ${line.labels} judged`;
  return element("li", { title },
    element("bdi", { class: "name" }, line.name),
    element("span", { class: "judged" }, `${line.labels} judged`),
    bar, drawCourse(line.course), element("span", { class: "share" }, audit ? percent(line.share) : `${percent(line.share)} of ${line.triples.toLocaleString("en")}`));
}

function drawCourse(course) {
  const drawing = shape("svg", { viewBox: "0 0 60 18", class: "course", "aria-hidden": "true" });
  const x = (i) => (course.length > 1 ? 1 + (58 * i) / (course.length - 1) : 59);
  drawing.append(shape("polyline", { class: "line", points: course.map((share, i) => `${x(i)},${16 - 14 * share}`).join(" ") }));
  return drawing;
}

// The little of Markdown that guidelines need: headings, lists, paragraphs, bold, italic, code, links. All of it as text.
const BLOCKS = [[/^(#{1,3})\s+(.*)$/, "heading"], [/^\s*[-*+]\s+(.*)$/, "ul"], [/^\s*\d+[.)]\s+(.*)$/, "ol"]];
const INLINE = /\*\*(.+?)\*\*|\*(.+?)\*|(?<!\w)_(.+?)_(?!\w)|`(.+?)`|\[(.+?)\]\((https?:\/\/[^\s)]+)\)/g;

export function drawMarkdown(text) {
  const parts = [];
  let open = null; // the list or paragraph that the next line may go on
  for (const line of text.split(/\r?\n/)) {
    const [found, kind] = BLOCKS.map(([form, name]) => [form.exec(line), name]).find(([match]) => match) ?? [null, "p"];
    if (!line.trim()) {
      open = null;
    } else if (kind === "heading") {
      open = null;
      parts.push(element("h2", {}, ...drawInline(found[2])));
    } else if (kind === "p") {
      const last = open?.lastElementChild?.localName === "li" ? open.lastElementChild : open;
      if (last) last.append(" ", ...drawInline(line.trim()));
      else parts.push((open = element("p", {}, ...drawInline(line.trim()))));
    } else {
      if (open?.localName !== kind) parts.push((open = element(kind, {})));
      open.append(element("li", {}, ...drawInline(found[1])));
    }
  }
  return parts;
}

function drawInline(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, bold, italic, under, code, words, address] = found;
    parts.push(text.slice(from, found.index));
    if (address) parts.push(element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, words));
    else if (bold) parts.push(element("strong", {}, bold));
    else if (code) parts.push(element("code", {}, code));
    else parts.push(element("em", {}, italic ?? under));
    from = found.index + whole.length;
  }
  return [...parts, text.slice(from)];
}
