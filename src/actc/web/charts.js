// @ts-check
// Charts by uPlot in the page's own colours: titles on both axes, values where the pointer is, and differences that
// need no colour (a line, dashes, dark and light).

import uPlot from "./vendor/uPlot.esm.js";
import { number, percent } from "./draw.js";

const Plot = /** @type {any} */ (uPlot); // which has no types of its own
/** @typedef {HTMLElement & {chart?: any}} ChartPlace */

/** @type {Map<ChartPlace, () => void>} */
const charts = new Map(); // how to draw each anew, by its place: when the page turns dark, or light
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((draw) => draw()));

const sized = new ResizeObserver((places) => {
  for (const target of places.map((one) => /** @type {ChartPlace} */ (one.target))) {
    const width = Math.floor(target.clientWidth);
    if (width && target.chart && target.chart.width !== width) target.chart.setSize({ width, height: target.chart.height });
  }
});

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function axis(label, more = {}) {
  return { label, stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 20, labelGap: 0, size: 30, ...more };
}

// Put a chart into a place, with what is on it in words; ``make`` returns uPlot's options and data.
function show(place, words, make) {
  const draw = () => {
    place.chart?.destroy();
    const [options, data] = make();
    const chart = new Plot({ width: Math.max(160, Math.floor(place.clientWidth)), cursor: { drag: { x: false, y: false }, y: false }, ...options }, data, place);
    chart.root.querySelector(".u-wrap").setAttribute("role", "img");
    chart.root.querySelector(".u-wrap").setAttribute("aria-label", words);
    place.chart = chart;
  };
  place.classList.add("chart");
  charts.set(place, draw);
  draw();
  sized.observe(place);
}

// A share by the number of answers, with its 90 % interval: points are [answers, middle, low, high].
export function showCurve(place, points, most, title) {
  const known = points.flatMap((point) => point.slice(1).filter((value) => value !== null));
  const low = Math.max(0, Math.floor(Math.min(...known) * 20 - 0.2) / 20);
  const high = Math.min(1, Math.ceil(Math.max(...known) * 20 + 0.2) / 20);
  const shown = (_chart, value) => (value === null ? "–" : percent(value));
  show(place, `${title}, by answers: ${percent(points.at(-1)[1])} after ${number(points.at(-1)[0])}`, () => {
    const accent = colour("accent");
    const bound = (label) => ({ label, stroke: accent, width: 1, dash: [3, 4], points: { show: false }, value: shown });
    return [{
      height: 230,
      scales: { x: { time: false, range: [0, most] }, y: { range: [low, high] } },
      axes: [axis("Answers", { space: 60 }), axis(title, { size: 52, values: (_chart, values) => values.map((value) => percent(value)) })],
      series: [{ label: "Answers" }, { label: title, stroke: accent, width: 2, points: { show: true, size: 6, fill: accent }, value: shown }, bound("at least"), bound("at most")],
      hooks: { ready: [(chart) => chart.setLegend({ idx: points.length - 1 })] },
      bands: [{ series: [3, 2], fill: `${accent}29` }],
    }, [0, 1, 2, 3].map((at) => points.map((point) => point[at]))];
  });
}
