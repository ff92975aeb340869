// How one logs in to a store. What is typed goes to the server's memory: it stands in no file, no command line, no log.

import { fetchJson, put, sentenceOf } from "./draw.js";

const at = (id) => document.getElementById(id);
const SECRET = { user: "Password", key: "Key" };
const KEPT = "Kept until the studio ends, in its memory alone.";
const OPEN = " This page is not encrypted: whoever listens on the network can read it.";
const isOpen = location.protocol === "http:" && !["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);

// Fields of a form of the template's macro ``login``; ``store`` gives the address, ``changed`` is told how one logs in.
export function startLogin(id, store, changed) {
  at(`${id}-login`).addEventListener("change", () => {
    showLogin(id, at(`${id}-login`).value);
    changed(at(`${id}-login`).value);
  });
  at(id).addEventListener("submit", async (event) => {
    event.preventDefault();
    const login = at(`${id}-login`).value;
    if (!login) return;
    const user = login === "user" ? at(`${id}-user`).value : "";
    const reply = await fetchJson("../api/login", { store: store(), login, user, secret: at(`${id}-secret`).value });
    if (reply.status !== 200) return put(`${id}-state`, sentenceOf(reply));
    at(`${id}-secret`).value = "";
    showLogin(id, login, reply.content.known);
    changed(login);
  });
}

// Show the fields of one way to log in, and say what to do if the studio does not know enough.
export function showLogin(id, login, known = false) {
  if (at(`${id}-login`) !== document.activeElement) at(`${id}-login`).value = login;
  const state = `${login} ${known}`;
  if (at(id).dataset.state === state) return; // what was said of the last try stays
  at(id).dataset.state = state;
  for (const part of at(id).querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(login);
  const word = at(id).querySelector("[data-word=secret]");
  if (login && word.textContent !== SECRET[login]) word.textContent = SECRET[login];
  put(`${id}-state`, !login ? "" : known ? KEPT : `Press Keep: the studio keeps it in memory until it ends, and writes it nowhere.${isOpen ? OPEN : ""}`);
}
