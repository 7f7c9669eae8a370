// The view Event: what became of one event, its calls as a waterfall, and why something did or did
// not match it, the closest misses first.

import { adminKey, json, keyTo, path, some, tickets } from "./api.js";
import { bindingsText, clock, count, counted, eventLink, figures, h, paced, put, ratio, seconds, shown, subscriptionLink, table } from "./dom.js";
import { follower } from "./follower.js";
import { frameOf, outlinesIn } from "./frames.js";
import { tree } from "./tree.js";

const LISTED = 40, MISSES = 10, SUGGESTED = 20, BARS = 400;

export const title = "Event";

export function render(root, id) {
  const gone = new AbortController();
  const heading = h("h1", {}, id ? `Event ${id}` : "Event");
  root.append(heading);
  if (id) show(root, id, gone.signal);
  else choose(root);
  return () => gone.abort();
}

function choose(root) {
  const input = h("input", { id: "event-id", spellcheck: "false", autocomplete: "off" });
  root.append(h("form", { onsubmit: (event) => { event.preventDefault(); if (input.value) location.hash = `#event/${encodeURIComponent(input.value)}`; } },
    h("p", { class: "field" }, h("label", { for: "event-id" }, "Id of an event"), input, h("button", { class: "main" }, "Show"))));
  const rows = follower.events.slice(-LISTED).reverse().map((each) =>
    [eventLink(each.id), clock(each.at), count(each.candidates), count(each.matches), count(each.calls), count(each.spared)]);
  if (rows.length) root.append(table("The latest events", [["event"], ["at"], ["candidates", true], ["matches", true], ["calls", true], ["spared", true]], rows));
  else root.append(h("p", { class: "quiet" }, "The latest events are listed here once they are read, with the admin key."));
}

async function show(root, id, signal) {
  const about = h("div"), calls = h("section", { "aria-labelledby": "calls-title" }), why = h("section", { "aria-labelledby": "why-title" });
  root.append(about, calls, why);
  why.append(h("h2", { id: "why-title" }, "Why, and why not"), whyForm(id, why, signal));
  if (!adminKey()) {
    about.append(h("p", { class: "quiet" }, "Its calls and closest misses are shown with the admin key; a subscription of yours is explained by its ticket."));
    return;
  }
  await Promise.all([
    attempt(calls, async () => showCalls(id, about, calls, signal)),
    attempt(why, async () => showMisses(id, why, signal)),
  ]);
}

async function attempt(into, run) {
  try {
    await run();
  } catch (failure) {
    if (failure.name !== "AbortError") into.append(h("p", { class: "problem", role: "alert" }, failure.message));
  }
}

function whyForm(id, into, signal) {
  const input = h("input", { id: "why-subscription", list: "known-subscriptions", spellcheck: "false", autocomplete: "off" });
  const ask = async (event) => {
    event.preventDefault();
    const name = input.value.trim();
    if (!name) return;
    const place = h("div", { id: "why-answer", tabindex: "-1" });
    into.querySelector("#why-answer")?.remove();
    into.querySelector("form").after(place);
    await attempt(place, async () => {
      place.append(tree(await json(`${path("events", id)}/why?subscription=${encodeURIComponent(name)}`, { key: keyTo(name), signal })));
    });
    place.focus();
  };
  const names = h("datalist", { id: "known-subscriptions" }, Object.keys(tickets()).map((each) => h("option", { value: each })));
  if (adminKey()) {
    input.addEventListener("input", paced(async () => {
      const found = await some(input.value, SUGGESTED, signal).catch(() => []);
      names.replaceChildren(...found.map((each) => h("option", { value: each.id })));
    }));
  }
  return h("form", { id: "why-form", onsubmit: ask },
    h("p", { class: "field" }, h("label", { for: "why-subscription" }, "Why did a subscription match or not? Its id"), input,
      h("button", { class: "main" }, "Explain")),
    names);
}

async function showMisses(id, into, signal) {
  const data = await json(`${path("events", id)}/why?limit=${MISSES}`, { key: adminKey(), signal });
  into.append(h("h3", { class: "closest" }, "The closest misses"),
    ...(data.closest.length ? data.closest.map(tree) : [h("p", { class: "quiet" }, "Nothing that stood then was missed.")]));
  const others = [data.came_later ? `${counted(data.came_later, "subscription")} came later` : "", data.gone_since ? `${count(data.gone_since)} went since` : ""].filter(Boolean);
  if (others.length) into.append(h("p", { class: "quiet" }, `${others.join(", ")}: ask for each by its id.`));
}

async function showCalls(id, about, into, signal) {
  const key = adminKey();
  const data = await json(`${path("events", id)}/calls`, { key, signal });
  const account = data.account;
  put(about,
    h("p", { class: "quiet" }, `At ${data.time}, position ${count(data.position)} of the log.`),
    data.failure ? h("p", { class: "problem" }, `No matcher could take it: ${data.failure}`) : null,
    figures([["subscriptions", count(account.subscriptions)], ["candidates", count(account.candidates)], ["undecided", count(account.undecided)],
      ["matches", count(data.matches.length)], ["calls made", count(account.calls)], ["calls spared", count(account.spared)],
      ["calls ÷ needed", ratio(account.calls, account.needed_at_least)]]),
    matched(data));
  into.append(h("h2", { id: "calls-title" }, "Its calls"), ...waterfall(data));
  const content = await json(`${path("events", id)}/content`, { key, signal });
  const outlines = outlinesIn(data.calls.flatMap((each) => (each.solutions ?? []).flat()));
  const frame = await frameOf(content, outlines, `Frame of ${id}`);
  if (frame) about.append(h("figure", { class: "large" }, frame));
  const plain = Object.fromEntries(Object.entries(content).map(([name, value]) => [name, typeof value === "string" && value.length > 400 ? `${value.slice(0, 80)}… (${count(value.length)} letters)` : value]));
  about.append(h("details", {}, h("summary", {}, "The event as it was published"),
    h("pre", { tabindex: "0", "aria-label": "The event" }, JSON.stringify(plain, null, 2))));
}

function matched(data) {
  const rows = [
    ...data.matches.map((each) => [subscriptionLink(each.subscription), "matched", bindingsText(each.bindings)]),
    ...data.undetermined.map((each) => [subscriptionLink(each.subscription), "undetermined", each.reason]),
  ].slice(0, 200);
  return rows.length ? table("What it matched, and what is open", [["subscription"], ["verdict"], ["with"]], rows) : h("p", {}, "It matched nothing.");
}

function waterfall(data) {
  if (data.trace === "gone") return [h("p", { class: "quiet" }, "What operators said of it is kept no longer.")];
  if (!data.calls.length) return [h("p", { class: "quiet" }, "No operator was asked.")];
  const total = data.calls.reduce((sum, each) => sum + (each.seconds ?? 0), 0);
  let begun = 0;
  const rows = data.calls.slice(0, BARS).map((each) => {
    const took = each.seconds ?? 0, begins = begun;
    begun += took;
    return [h("code", {}, each.predicate), bar(begins, took, total), seconds(each.seconds ?? null), each.how === "memo" ? "remembered" : each.how,
      said(each), sharers(each), decided(each.decided ?? {})];
  });
  const spared = data.spared.length
    ? h("details", {}, h("summary", {}, `${counted(data.spared.length, "call")} of candidates not needed`),
      h("ul", { class: "plain" }, data.spared.slice(0, BARS).map((each) => h("li", {}, h("code", {}, each)))))
    : null;
  return [table(`One after the other, ${seconds(total)} in all`,
    [["call"], ["when"], ["took", true], ["how"], ["said"], ["shared by"], ["decided"]], rows), spared].filter(Boolean);
}

function bar(begins, took, total) {
  const inner = h("i", {});
  inner.style.marginInlineStart = total ? `${(100 * begins) / total}%` : "0";
  inner.style.inlineSize = total ? `${Math.max(0.5, (100 * took) / total)}%` : "0";
  return h("span", { class: "bar", "aria-hidden": "true" }, inner);
}

function said(call) {
  if (call.how === "lost") return `an answer of ${count(call.bytes)} bytes, too many to be kept`;
  if (call.failure) return `failed: ${call.failure[1]}`;
  if (call.solutions) return call.solutions.length ? `${call.solutions.slice(0, 3).map((each) => each.map(shown).join(", ")).join("; ")}${call.solutions_count > 3 ? ` and ${count(call.solutions_count - 3)} more` : ""}` : "no solution";
  return String(call.truth);
}

function sharers(call) {
  if (!call.shared) return "nobody now";
  const some = call.shared_with.slice(0, 3).map((each, at) => [at ? ", " : "", subscriptionLink(each)]);
  return h("span", {}, some, call.shared > 3 ? ` and ${count(call.shared - 3)} more` : "");
}

const decided = (verdicts) => Object.entries(verdicts).map(([verdict, number]) => `${verdict} ${count(number)}`).join(", ") || "nothing";
