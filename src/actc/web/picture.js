// @ts-check
// What the answers say so far, on the pages of judges and of the owner: the curve, and relation by relation.

import { showCurve } from "./charts.js";
import { element, interval, number, percent, put, redraw, showShare } from "./draw.js";

// How far a session is: never "41 of 10", and of one candidate never "of 100".
export function showProgress({ labels, unsure, goal }) {
  const [done, all] = [number(labels), number(goal)];
  put("count", (labels > goal ? `${done} judged, budget ${all}` : `${done} of ${all}`) + (unsure ? ` · ${number(unsure)} not sure` : ""));
  showShare(document.getElementById("progress"), labels / goal);
}

// Of a session: of its decisions; of an audit: of the accepted triples.
export function showPicture({ words, audit, advice, curve, relations }, budget, most) {
  if (audit) put("buys", "What the audit shows");
  put("by-relation", words.by_relation);
  put("advice", advice);
  showLearning("curve", curve, budget, words);
  redraw("relations", relations, () => relations.slice(0, most).map((line) => drawRelation(line, words, audit)));
}

// Undone answers and new disagreements take labels away again: the latest refit speaks for each number of answers.
export function showLearning(id, points, budget, words) {
  redraw(id, [points, budget], () => drawCurve(points, budget, words));
}

function drawCurve(points, budget, words) {
  if (points.length === 0) return [element("figcaption", {}, words.soon)];
  const curve = [...new Map(points.map((point) => [point[0], point])).values()].sort((a, b) => a[0] - b[0]);
  const [, middle, low, high] = points.at(-1);
  const place = element("div", {});
  requestAnimationFrame(() => showCurve(place, curve, Math.max(budget, curve.at(-1)[0], 1), words.share));
  const between = low === null ? "" : ` (${interval(low, high)})`;
  return [place, element("figcaption", {}, element("strong", {}, percent(middle)), ` ${words.now}${between}.`)];
}

function drawRelation(line, words, audit) {
  const bar = element("span", { class: "meter" }, element("span", {}));
  bar.firstChild.style.width = `${100 * line.share}%`;
  const cut = line.cut === null ? "no cut: all or none" : `from score ${line.cut.toPrecision(3)}`;
  const title = audit
    ? `${line.name}: ${percent(line.share)} of ${line.labels} judged are ${words.true}, ${line.triples} ${words.accepted} in all`
    : `${line.name}: ${percent(line.share)} of ${line.triples} ${words.accepted}, ${cut}, ${line.labels} judged`;
  return element("li", { title },
    element("bdi", { class: "name" }, line.name),
    element("span", { class: "judged" }, `${line.labels} judged`),
    bar, element("span", { class: "share" }, audit ? percent(line.share) : `${percent(line.share)} of ${number(line.triples)}`));
}
