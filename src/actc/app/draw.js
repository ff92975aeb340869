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

export async function fetchJson(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  try {
    const response = await fetch(path, { ...options, cache: "no-store" });
    return { status: response.status, content: await response.json() };
  } catch {
    return { status: 0, content: null };
  }
}

function shape(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// Expected accuracy by number of answers, with its interval.
export function showCurve(figure, points, budget) {
  // Undone answers and new disagreements take labels away again: the latest refit speaks for each number of answers.
  const curve = [...new Map(points.map((point) => [point[0], point])).values()].sort((a, b) => a[0] - b[0]);
  const latest = points.at(-1);
  const state = JSON.stringify([points, budget]);
  if (figure.dataset.state === state) return;
  figure.dataset.state = state;
  if (curve.length === 0) {
    figure.replaceChildren(element("figcaption", {}, "Expected accuracy appears here once the method has an estimate."));
    return;
  }
  const [width, height, left, bottom, top, right] = [320, 170, 40, 24, 10, 12];
  const values = curve.flatMap((point) => point.slice(1).filter((value) => value !== null));
  const low = Math.max(0, Math.floor(Math.min(...values) * 20 - 0.2) / 20);
  const high = Math.min(1, Math.ceil(Math.max(...values) * 20 + 0.2) / 20);
  const most = Math.max(budget, ...curve.map((point) => point[0]), 1);
  const x = (labels) => left + ((width - left - right) * labels) / most;
  const y = (value) => height - bottom - ((height - bottom - top) * (value - low)) / (high - low || 1);
  const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  drawing.append(shape("title", {}, `Expected accuracy by answers: now ${percent(latest[1])} after ${latest[0]} answers`));
  for (const value of ticks(low, high)) {
    drawing.append(shape("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    drawing.append(shape("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, percent(value)));
  }
  for (const labels of [0, most]) {
    const anchor = labels === 0 ? "start" : "end";
    drawing.append(shape("text", { x: x(labels), y: height - 6, "text-anchor": anchor }, labels === 0 ? "0 answers" : labels.toLocaleString("en")));
  }
  const band = curve.filter((point) => point[2] !== null && point[3] !== null);
  if (band.length > 1) {
    const upper = band.map((point) => `${x(point[0])},${y(point[3])}`);
    const lower = band.map((point) => `${x(point[0])},${y(point[2])}`).reverse();
    drawing.append(shape("polygon", { class: "band", points: [...upper, ...lower].join(" ") }));
  }
  drawing.append(shape("polyline", { class: "line", points: curve.map((point) => `${x(point[0])},${y(point[1])}`).join(" ") }));
  drawing.append(shape("circle", { class: "dot", cx: x(latest[0]), cy: y(latest[1]), r: 4 }));
  const interval = latest[2] === null ? "" : `, 90 % interval ${percent(latest[2])} to ${percent(latest[3])}`;
  const caption = element("figcaption", {}, element("strong", {}, percent(latest[1], 1)), ` of the decisions on all candidates should be right now${interval}.`);
  figure.replaceChildren(drawing, caption);
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
export function showRelations(list, relations) {
  const state = JSON.stringify(relations);
  if (list.dataset.state === state) return;
  list.dataset.state = state;
  list.replaceChildren(...relations.map(drawRelation));
}

function drawRelation(line) {
  const bar = element("span", { class: "meter" }, element("span", {}));
  bar.firstChild.style.width = `${100 * line.share}%`;
  const cut = line.cut === null ? "no cut: all or none" : `from score ${line.cut.toPrecision(3)}`;
  const title = `${line.name}: ${percent(line.share, 1)} of ${line.triples} accepted, ${cut}, ${line.labels} judged`;
  return element("li", { title },
    element("bdi", { class: "name" }, line.name),
    element("span", { class: "judged" }, `${line.labels} judged`),
    bar, drawCourse(line.course), element("span", { class: "share" }, percent(line.share)));
}

function drawCourse(course) {
  const drawing = shape("svg", { viewBox: "0 0 60 18", class: "course", "aria-hidden": "true" });
  const x = (i) => (course.length > 1 ? 1 + (58 * i) / (course.length - 1) : 59);
  drawing.append(shape("polyline", { class: "line", points: course.map((share, i) => `${x(i)},${16 - 14 * share}`).join(" ") }));
  return drawing;
}
