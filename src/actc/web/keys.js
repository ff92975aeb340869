// @ts-check
// Which key means what: as the page has it, or as the person wants it; stored in this browser.

import { all, at, fieldOf } from "./draw.js";

const FIRST = { true: "t", false: "f", unsure: "s", undo: "u", note: "n", mine: "h" };
const FIXED = { arrowright: "true", arrowleft: "false", backspace: "undo", "?": "help" };
const STORAGE = "actc:keys";
let chosen = { ...FIRST };

// The character counts; where it is no Latin letter (a Cyrillic or Greek layout), the place of the key does too.
export function meaningOf(event) {
  const typed = event.key.toLowerCase();
  const letter = /^\p{L}$/u.test(event.key) && !/^[a-z]$/i.test(event.key) && /^Key[A-Z]$/.test(event.code);
  return find(typed) ?? (letter ? find(event.code.slice(3).toLowerCase()) : undefined);
}

const find = (key) => FIXED[key] ?? Object.keys(chosen).find((action) => chosen[action] === key);

// A key that another action has goes to this one, and the other gets what this one had: none is ever without.
function choose(action, key) {
  const other = find(key);
  if (/^\S$/u.test(key) && !(key in FIXED)) {
    if (other) chosen[other] = chosen[action];
    chosen[action] = key;
    localStorage.setItem(STORAGE, JSON.stringify(chosen));
  }
  show();
}

function show() {
  for (const input of all("input", at("keys"))) input.value = chosen[input.dataset.action ?? ""].toUpperCase();
  for (const [action, place] of Object.entries({ undo: "undo", note: "note-button", mine: "mine-button" })) {
    all("kbd", at(place))[0].textContent = chosen[action].toUpperCase();
  }
  for (const button of all("button", at("answers"))) all("kbd", button)[0].textContent = chosen[button.dataset.answer ?? ""].toUpperCase();
}

export function startKeys() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE) ?? "{}");
    for (const action of Object.keys(FIRST)) if (/^\S$/u.test(stored[action])) chosen[action] = stored[action];
    if (new Set(Object.values(chosen)).size < Object.keys(FIRST).length) chosen = { ...FIRST };
  } catch {
    chosen = { ...FIRST };
  }
  show();
  at("keys").addEventListener("input", (event) => choose(fieldOf(event).dataset.action, fieldOf(event).value.toLowerCase()));
  at("keys").addEventListener("focusin", (event) => fieldOf(event).select?.());
  at("keys-reset").addEventListener("click", () => {
    localStorage.removeItem(STORAGE);
    chosen = { ...FIRST };
    show();
  });
}
