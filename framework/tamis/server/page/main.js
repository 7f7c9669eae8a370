// Leads from an address to a view: #now, #event/ID, #subscriptions/ID, #operators. Takes the admin key.

import { adminKey, json, setAdminKey } from "./api.js";
import { paced } from "./dom.js";
import * as event from "./event.js";
import { follower } from "./follower.js";
import { forgetContents } from "./frames.js";
import * as now from "./now.js";
import * as operators from "./operators.js";
import { save } from "./save.js";
import * as subscriptions from "./subscriptions.js";

const VIEWS = { now, event, subscriptions, operators };
const main = document.getElementById("main"), dialog = document.getElementById("key-dialog");
let leave = () => undefined;

function show({ focus = true } = {}) {
  const [name, rest] = location.hash.slice(1).split(/\/(.*)/s);
  const view = VIEWS[name] ?? now;
  let id = "";
  try {
    id = decodeURIComponent(rest ?? "");
  } catch {
    id = rest;
  }
  leave();
  main.replaceChildren();
  document.title = `${view.title}${id ? ` ${id}` : ""} · tamis`;
  for (const link of document.querySelectorAll("nav a")) {
    if (VIEWS[link.hash.slice(1)] === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  leave = view.render(main, id) ?? (() => undefined);
  window.scrollTo(0, 0);
  if (focus) main.focus({ preventScroll: true });
}

const tell = paced(() => {
  const words = { "no key": "no key", connecting: "connecting", live: "live", paused: "paused", refused: "wrong key", away: "no answer" };
  document.getElementById("keys").textContent = adminKey() ? "Key ✓" : "Key …";
  const state = document.getElementById("state");
  if (state.dataset.state === follower.state) return;
  state.textContent = words[follower.state]; // said aloud, so only where it is another one
  state.dataset.state = follower.state;
});

function takeKey(key) {
  setAdminKey(key);
  forgetContents();
  follower.forget();
  tell();
  show({ focus: false });
}

document.getElementById("keys").addEventListener("click", () => {
  document.getElementById("key-problem").textContent = "";
  document.getElementById("key-value").value = "";
  dialog.showModal();
});

document.getElementById("key-form").addEventListener("submit", async (submitted) => {
  const how = submitted.submitter?.value, key = document.getElementById("key-value").value.trim();
  if (how === "forget") takeKey(null);
  if (how !== "take") return;
  submitted.preventDefault();
  try {
    await json("operators/accounts", { key });
    dialog.close();
    takeKey(key);
  } catch (failure) {
    document.getElementById("key-problem").textContent = key ? failure.message : "Give the key that --admin-key of the server says.";
  }
});

document.getElementById("save").addEventListener("click", save);
document.querySelector(".skip").addEventListener("click", (clicked) => {
  clicked.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", show);
follower.addEventListener("change", tell);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => follower.dispatchEvent(new Event("change")));
follower.start();
tell();
show({ focus: false });
