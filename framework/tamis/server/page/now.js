// The view Now: the sieve, the sums, a map, frames and what matched, of the events that are held.

import { adminKey } from "./api.js";
import { bindingsText, clock, count, counted, eventLink, figures, h, paced, ratio, subscriptionLink } from "./dom.js";
import { follower, totals } from "./follower.js";
import { contentOf, frameOf } from "./frames.js";
import { PlaceMap } from "./places.js";
import { Sieve } from "./sieve.js";

const LISTED = 12, FRAMES = 4, FRAMES_EVERY = 1000;

export const title = "Now";

export function render(root) {
  const toggle = h("button", { type: "button", id: "pause", class: "main", onclick: () => (follower.paused ? follower.resume() : follower.pause()) });
  const state = h("p", { class: "quiet", id: "now-state" });
  const sums = h("div");
  const canvas = h("canvas", { class: "sieve", tabindex: "0", role: "slider", "aria-label": "Events of the sieve", "aria-orientation": "horizontal" });
  const land = h("canvas", { class: "map", role: "img", "aria-label": "Map" });
  const feed = h("ol", { class: "feed", id: "feed" });
  const frames = h("div", { class: "frames" });
  const draw = paced(() => update());
  const open = (each) => { location.hash = `#event/${encodeURIComponent(each.id)}`; };
  const sieve = new Sieve(canvas, open);
  const map = new PlaceMap(land, draw, open);
  root.append(
    h("div", { class: "title" }, h("h1", {}, "Now"), toggle),
    state, sums,
    h("section", { "aria-labelledby": "sieve-title" },
      h("h2", { id: "sieve-title" }, "The sieve"),
      h("p", { class: "legend-line" },
        swatch("spared", "subscriptions"), swatch("bound", "candidates"), swatch("made", "undecided, so operators are asked"), swatch("match", "matches")),
      canvas,
      h("p", { class: "legend-line" }, swatch("made", "calls made"), swatch("spared", "calls spared"), swatch("match", "what no method could have done without"),
        h("span", { class: "quiet" }, "Arrow keys choose an event, Enter opens it."))),
    h("div", { class: "pair" },
      h("section", { "aria-labelledby": "feed-title" }, h("h2", { id: "feed-title" }, "What matched"), feed),
      h("section", { "aria-labelledby": "map-title" }, h("h2", { id: "map-title" }, "Where"), land)),
    h("section", { "aria-labelledby": "frames-title", class: "frames-section" }, h("h2", { id: "frames-title" }, "Frames"), frames),
  );
  const shown = { frames: "", at: -Infinity };

  function update() {
    const { events } = follower;
    toggle.textContent = follower.paused ? "Resume" : "Pause";
    toggle.disabled = !adminKey();
    state.textContent = words();
    sums.replaceChildren(sumsOf(events));
    sieve.draw(events);
    map.draw(events);
    const matched = [];
    for (let at = events.length - 1; at >= 0 && matched.length < LISTED; at -= 1) if (events[at].matches) matched.push(events[at]);
    renew(feed, matched);
    const imaged = [];
    for (let at = events.length - 1; at >= 0 && imaged.length < FRAMES; at -= 1) {
      if (events[at].image && (events[at].matches || events.length - at < 10)) imaged.push(events[at]);
    }
    frames.parentElement.hidden = !imaged.length;
    const names = imaged.map((each) => each.id).join("\n");
    if (names !== shown.frames && performance.now() - shown.at < FRAMES_EVERY) draw();
    else if (names !== shown.frames) {
      shown.frames = names;
      shown.at = performance.now();
      showFrames(frames, imaged, () => shown.frames === names);
    }
  }
  follower.addEventListener("change", draw);
  window.addEventListener("resize", draw);
  update();
  return () => {
    draw.stop();
    follower.removeEventListener("change", draw);
    window.removeEventListener("resize", draw);
  };
}

const swatch = (name, words) => h("span", {}, h("span", { class: `swatch ${name}` }), words);

function words() {
  const { state, reason, cursor, missing } = follower;
  const gap = missing ? ` ${counted(missing, "entry").replace("entrys", "entries")} had been removed by retention before they were read.` : "";
  if (state === "no key") return "The log is read with the admin key: give it by the button “Key …”. Subscriptions can be made without.";
  if (state === "live") return `Live, at position ${count(cursor)} of the log.${gap}`;
  if (state === "paused") return `Paused at position ${count(cursor)} of the log; nothing is dropped, it goes on from there.${gap}`;
  if (state === "refused") return reason;
  if (state === "away") return `The server does not answer (${reason}); asked again, and resumed from position ${count(cursor)}.`;
  return "Connecting …";
}

function sumsOf(events) {
  const sum = totals(events);
  return figures([
    ["events here", count(sum.events), "events"],
    ["matches", count(sum.matches), "matches"],
    ["calls made", count(sum.calls), "calls"],
    ["calls spared", count(sum.spared), "spared"],
    ["needed at least", count(sum.needed), "needed"],
    ["calls ÷ needed", ratio(sum.calls, sum.needed), "ratio"],
  ]);
}

// rewrites a list only where it differs, so that the focus of the keyboard stays
function renew(feed, matched) {
  const names = matched.map((each) => each.position).join(" ");
  if (feed.dataset.shown === names && matched.length) return;
  const focused = feed.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  feed.dataset.shown = names;
  feed.replaceChildren(...(matched.length ? matched.map(item) : [h("li", { class: "quiet" }, "Nothing matched yet.")]));
  if (focused) [...feed.querySelectorAll("a")].find((each) => each.getAttribute("href") === focused)?.focus();
}

function item(each) {
  const some = each.matched.slice(0, 3).map((match, at) => [at ? ", " : "", subscriptionLink(match.id)]);
  const more = each.matches > 3 ? ` and ${count(each.matches - 3)} more` : "";
  return h("li", {},
    h("span", { class: "when" }, clock(each.at)), " ", eventLink(each.id), " matched ", some, more,
    h("span", { class: "bindings" }, bindingsText(each.matched[0]?.bindings)));
}

async function showFrames(into, imaged, isCurrent) {
  const made = await Promise.all(imaged.map(async (each) => {
    try {
      const frame = await frameOf(await contentOf(each.id, adminKey()), each.outlines ?? [], `Frame of ${each.id}`);
      const names = each.matched.slice(0, 4).map((match) => match.id).join(", ");
      return frame && h("figure", {}, frame, h("figcaption", {}, clock(each.at), " ", eventLink(each.id), names ? ` matched ${names}` : " matched nothing"));
    } catch {
      return null; // its content is kept no longer
    }
  }));
  if (isCurrent()) into.replaceChildren(...made.filter(Boolean));
}
