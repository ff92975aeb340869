// @ts-check
// What all pages draw with. Text always goes in as text: names come from strangers.

// Of the many kinds of elements that pages have, this has what each of them has: a template knows which one it is.
/** @typedef {HTMLInputElement & Omit<HTMLSelectElement, "type"> & HTMLDialogElement & HTMLAnchorElement & HTMLDetailsElement} Place */

export const at = (/** @type {string} */ id) => /** @type {Place} */ (document.getElementById(id));

/** @type {(selector: string, place?: ParentNode) => Place[]} */
export const all = (selector, place = document) => [...place.querySelectorAll(selector)].map((one) => /** @type {Place} */ (one));

// The field, or the thing of a kind (a button, if nothing is named), in which something happened.
export const fieldOf = (/** @type {Event} */ event) => /** @type {Place} */ (event.target);
export const pressed = (/** @type {Event} */ event, kind = "button") => /** @type {Place | null} */ (fieldOf(event).closest?.(kind) ?? null);

// What a press on a button of a place does.
export function onPress(id, act) {
  at(id).addEventListener("click", (event) => {
    const button = pressed(event);
    if (button) act(button);
  });
}

document.addEventListener("submit", (event) => event.preventDefault()); // what is in a form, a script sends

// Of the buttons of a place one is pressed, or none.
export function press(id, isChosen) {
  for (const button of all("button", at(id))) button.setAttribute("aria-pressed", String(isChosen(button)));
}

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== "") made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A name of a stranger's, which may run the other way than the text around it.
export const bdi = (text, more = {}) => element("bdi", more, text);

// A row of a table: what it is about, and its cells.
export const drawRow = (head, ...cells) => element("tr", {}, element("th", { scope: "row" }, ...head), ...cells.map((cell) => element("td", {}, cell)));

export function makeButton(words, act, label = "", more = {}) {
  const button = element("button", { type: "button", "aria-label": label, ...more }, words);
  button.addEventListener("click", () => act(button));
  return button;
}

export function put(id, text) {
  const target = at(id);
  if (target.textContent !== text) target.textContent = text;
}

// Replace the children of a place only where what they show has changed: fields and focus stay.
export function redraw(id, state, make) {
  const place = at(id);
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
export const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

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

// Why a server did not take a request.
export function sentenceOf({ status, content }, otherwise = "That did not work.") {
  if (status === 0) return "The server does not answer. Is it still running?";
  if (Array.isArray(content?.detail) && content.detail.length) return `${content.detail[0].loc.at(-1)}: ${content.detail[0].msg}.`;
  return typeof content?.detail === "string" ? content.detail : otherwise;
}

// Send something, say at a place what came of it, and return the server's content; null where it was refused.
export async function send(path, body, place, done = "", method = "POST") {
  const reply = await fetchJson(path, body, method);
  put(place, reply.status === 200 ? done : sentenceOf(reply));
  return reply.status === 200 ? reply.content : null;
}

// A file that takes a while is made while the page waits; one that cannot be made leaves a sentence.
export async function download(event, place) {
  const link = pressed(event, "a");
  if (!link) return;
  event.preventDefault();
  put(place, `${link.download} is being made …`);
  try {
    const response = await fetch(link.href, { cache: "no-store" });
    if (!response.ok) return put(place, String((await response.json()).detail));
    const here = URL.createObjectURL(await response.blob());
    element("a", { href: here, download: link.download }).click();
    setTimeout(() => URL.revokeObjectURL(here), 60_000);
    put(place, `${link.download} is here.`);
  } catch {
    put(place, "The server does not answer.");
  }
}

export const percent = (share) => `${Math.round(100 * share)}%`;
export const interval = (low, high) => (low === high ? "all of them judged" : `90% interval: ${percent(low)} to ${percent(high)}`);
export const number = (value) => value.toLocaleString("en");
export const count = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;

// Copy a text by a button, which shows that it did; returns false where a browser does not let us.
export async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return false;
  }
  const words = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = words), 2000);
  return true;
}

// A bar that shows how far something is; a share of null is not known.
export function showShare(bar, share) {
  if (share === null) bar.removeAttribute("aria-valuenow");
  else bar.setAttribute("aria-valuenow", String(Math.round(100 * Math.min(1, share))));
  bar.firstElementChild.style.width = `${100 * Math.min(1, share ?? 0.05)}%`;
}

export function drawProgress(label, /** @type {number | null} */ share = 0) {
  const bar = element("span", { class: "progress", role: "progressbar", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "100" }, element("span", {}));
  showShare(bar, share);
  return bar;
}

// What is decided about, and what becomes of it, wherever the page speaks of it: "accepted" or "taken out".
export function showWords(words) {
  for (const place of all("[data-word]")) {
    const text = words[place.dataset.word ?? ""];
    place.textContent = "capital" in place.dataset ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  }
}

// Which column the rows of a table are sorted by.
export function showSort(by, falling) {
  for (const head of at("sorts").children) {
    if (head.querySelector("button")?.dataset.by === by) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

// Do something now and again and again, while the page is looked at, with a pause.
export async function repeat(act, pause) {
  if (!document.hidden) await act();
  setTimeout(() => repeat(act, pause), pause());
}
