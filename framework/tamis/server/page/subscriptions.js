// The view Subscriptions: who is there, a new one, and one with its deliveries, dead letters and what
// operators left open.

import { adminKey, ask, json, keepTicket, keyTo, path, some, stream, ticketOf, tickets } from "./api.js";
import { bindingsText, clock, count, counted, eventLink, figures, h, paced, put, subscriptionLink, table } from "./dom.js";
import { Editor, forecast, subscribe } from "./editor.js";

const MOST_LISTED = 100, MOST_DELIVERIES = 200, AGAIN = 2000;

export const title = "Subscriptions";

export function render(root, id) {
  const gone = new AbortController(), left = [];
  if (id) showOne(root, id, gone.signal, left);
  else showAll(root, gone.signal, left);
  return () => {
    gone.abort();
    left.forEach((each) => each());
  };
}

function showAll(root, signal, left) {
  const list = h("div");
  const editor = new Editor({ words: "Subscribe", save: async (body, key) => {
    const made = await subscribe(body, key);
    keepTicket(made.id, made.ticket);
    fill(list, signal);
    return [h("p", {}, "Subscribed: ", subscriptionLink(made.id), ` until ${made.expires ?? "it is ended"}.`), ticketShown(made), ...forecast(made)];
  } });
  left.push(() => editor.leave());
  root.append(h("h1", {}, title),
    h("section", { "aria-labelledby": "new-title" }, h("h2", { id: "new-title" }, "A new one"), editor.element),
    h("section", { "aria-labelledby": "all-title" }, h("h2", { id: "all-title" }, adminKey() ? "All of them" : "Yours, in this tab"), list));
  fill(list, signal);
}

function ticketShown(made) {
  const secret = made.webhook?.secret;
  const line = (name, value) => h("p", {}, `${name}, told this once: `, h("code", { class: "secret" }, value), " ",
    h("button", { type: "button", onclick: () => navigator.clipboard?.writeText(value) }, `Copy the ${name.toLowerCase()}`));
  return h("div", {}, line("Ticket", made.ticket), secret ? line("Secret", secret) : null);
}

// the first ones with some words; asked of the server, which may have very many
async function fill(list, signal) {
  const input = h("input", { id: "filter", type: "search", spellcheck: "false" }), rows = h("div", { role: "status" });
  const draw = async () => {
    try {
      const found = adminKey() ? await some(input.value, MOST_LISTED + 1, signal) : await mine(signal);
      rows.replaceChildren(listed(found));
    } catch (failure) {
      if (!signal.aborted) rows.replaceChildren(h("p", { class: "problem" }, failure.message));
    }
  };
  input.addEventListener("input", paced(draw));
  list.replaceChildren(...(adminKey() ? [h("p", { class: "field" }, h("label", { for: "filter" }, "With the words"), input)] : []), rows);
  await draw();
}

async function mine(signal) {
  const asked = Object.entries(tickets()).map(([id, key]) => json(path("subscriptions", id), { key, signal }).catch(() => null));
  return (await Promise.all(asked)).filter(Boolean);
}

function listed(found) {
  const cells = found.slice(0, MOST_LISTED).map((each) => [subscriptionLink(each.id), h("code", {}, each.where), each.live ? "live" : "ended",
    ...["matched", "due", "delivered", "pending", "dead", "gap"].map((name) => count(each[name]))]);
  const caption = found.length > MOST_LISTED ? `The first ${MOST_LISTED}` : counted(found.length, "subscription");
  return cells.length
    ? table(caption, [["id"], ["text"], ["state"], ["matched", true], ["due", true], ["delivered", true], ["pending", true], ["dead", true], ["gap", true]], cells)
    : h("p", { class: "quiet" }, "There is none to show.");
}

function showOne(root, id, signal, left) {
  const about = h("div"), problem = h("p", { class: "problem", role: "alert" });
  root.append(h("p", {}, h("a", { href: "#subscriptions" }, "← All subscriptions")), h("h1", {}, id), problem, about);
  const fail = (failure) => { if (!signal.aborted) problem.textContent = failure.message; };
  if (!keyTo(id)) about.append(ticketForm(id));
  else open(id, about, signal, left, fail).catch(fail);
}

function ticketForm(id) {
  const input = h("input", { id: "ticket", type: "password", autocomplete: "off" });
  const take = (event) => {
    event.preventDefault();
    keepTicket(id, input.value.trim());
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return h("form", { onsubmit: take }, h("p", { class: "field" }, h("label", { for: "ticket" }, "Ticket of this subscription"), input, h("button", { class: "main" }, "Use it")),
    h("p", { class: "quiet" }, "It stays in this tab. With the admin key it is read, and not changed."));
}

async function open(id, about, signal, left, fail) {
  const address = path("subscriptions", id), ticket = ticketOf(id);
  const sums = h("div"), deliveries = h("ol", { class: "feed", id: "deliveries" }), dead = h("div"), undecided = h("div");
  const first = await json(address, { key: keyTo(id), signal });
  const section = (name, words, ...parts) => h("section", { "aria-labelledby": `${name}-title` }, h("h2", { id: `${name}-title` }, words), parts);
  put(about, h("pre", { tabindex: "0", "aria-label": "Its text" }, first.where), sums,
    ...(ticket ? [actions(id, address, ticket, first, refresh, fail)] : [h("p", { class: "quiet" }, "It is changed with its ticket."), ticketForm(id)]),
    section("deliveries", "Deliveries, from what is acknowledged on", deliveries),
    section("dead", "Dead letters", dead), section("open", "What operators left open", undecided));
  if (ticket) about.append(edit(id, address, ticket, first, left, refresh));

  async function refresh() {
    const [now, letters, opened] = await Promise.all([address, `${address}/dead`, `${address}/undetermined`].map((each) => json(each, { key: keyTo(id), signal })));
    sums.replaceChildren(...summary(now));
    dead.replaceChildren(lettersOf(letters, address, ticket, refresh, fail));
    undecided.replaceChildren(openOf(opened, address, ticket, refresh, fail));
  }
  const soon = paced(() => refresh().catch(fail), AGAIN);
  left.push(() => soon.stop());
  await refresh();
  follow(address, id, deliveries, signal, soon, fail);
}

function summary(now) {
  const states = ["delivered", "pending", "dead", "gap"];
  const webhook = now.webhook ? [h("p", {}, `Webhook ${now.webhook.url} is ${now.webhook.state}${now.webhook.reason ? `: ${now.webhook.reason}` : ""}.`)] : [];
  return [
    figures([["matched", count(now.matched)], ["due", count(now.due)], ...states.map((state) => [state, count(now[state])])]),
    h("p", { class: "quiet" }, `${now.live ? "Live" : "Ended"}, ${now.expires ? `until ${now.expires}` : "without an end"}; acknowledged up to ${now.cursor}.${now.deliver ? ` Delivers by ${JSON.stringify(now.deliver)}.` : ""}`), ...webhook];
}

function actions(id, address, ticket, first, refresh, fail) {
  const act = (words, run) => h("button", { type: "button", onclick: () => run().catch(fail) }, words);
  return h("p", { class: "actions" },
    act("Acknowledge all", async () => {
      const items = document.querySelectorAll("#deliveries [data-delivery]");
      if (items.length) await json(`${address}/ack`, { method: "POST", key: ticket, body: { id: items[0].dataset.delivery } });
      await refresh();
    }),
    act("Renew for a day", async () => { await json(`${address}/renew`, { method: "POST", key: ticket, body: {} }); await refresh(); }),
    first.webhook ? act("Enable the webhook", async () => { await ask(`${address}/webhook/enable`, { method: "POST", key: ticket }); await refresh(); }) : null,
    act("Unsubscribe", async () => {
      await ask(address, { method: "DELETE", key: ticket });
      keepTicket(id, null);
      location.hash = "#subscriptions";
    }));
}

async function follow(address, id, list, signal, soon, fail) {
  const kept = [];
  const draw = paced(() => list.replaceChildren(...(kept.length ? kept.toReversed().map(delivery) : [h("li", { class: "quiet" }, "Nothing is due yet.")])));
  let last = "";
  draw();
  while (!signal.aborted) {
    try {
      for await (const each of stream(`${address}/matches${last && `?after=${last}`}`, { key: keyTo(id), signal })) {
        last = each.id;
        if (!each.data) continue;
        kept.push({ id: each.id, kind: each.event, ...JSON.parse(each.data) });
        if (kept.length > MOST_DELIVERIES) kept.shift();
        draw();
        soon();
      }
    } catch (failure) {
      if (signal.aborted) return;
      fail(failure);
      if (failure.status && failure.status < 500 && failure.status !== 429) return;
    }
    await new Promise((done) => setTimeout(done, AGAIN));
  }
}

function delivery(each) {
  const words = each.kind === "gap" ? [`${counted(each.missing, "delivery").replace("deliverys", "deliveries")} were removed by retention`] : each.event ? [" by ", eventLink(each.event)] : [" at its end"];
  return h("li", { "data-delivery": each.id }, h("span", { class: "when" }, clock(each.time)), ` ${each.kind}`, words,
    h("span", { class: "bindings" }, bindingsText(each.bindings), each.reason ? ` ${each.reason}` : ""));
}

function lettersOf(letters, address, ticket, refresh, fail) {
  if (!letters.length) return h("p", { class: "quiet" }, "There is none.");
  const again = (each) => ticket && h("button", { type: "button", onclick: () => ask(`${address}/dead/${encodeURIComponent(each.id)}/redeliver`, { method: "POST", key: ticket }).then(refresh).catch(fail) }, `Send ${each.id} again`);
  return table("What the webhook never took", [["delivery"], ["event"], ["reason"], ["payload"], [""]],
    letters.map((each) => [each.id, each.event ? eventLink(each.event) : "", each.reason ?? "", h("code", {}, JSON.stringify(each).slice(0, 120)), again(each)]));
}

function openOf(opened, address, ticket, refresh, fail) {
  if (!opened.length) return h("p", { class: "quiet" }, "There is nothing.");
  const again = ticket && h("button", { type: "button", onclick: () => ask(`${address}/undetermined/evaluate`, { method: "POST", key: ticket, body: {} }).then(refresh).catch(fail) }, "Evaluate them again");
  return h("div", {}, table("Events that are undetermined", [["event"], ["who failed"], ["tries", true]],
    opened.map((each) => [eventLink(each.event), each.operators.join(", "), count(each.tries)])), again);
}

function edit(id, address, ticket, first, left, refresh) {
  const { where, expires, live, cursor, matched, due, delivered, pending, dead, gap, id: own, ...document } = first;
  const editor = new Editor({ words: "Replace it", initial: { id, where, document }, save: async (body) => {
    const answer = await json(address, { method: "PUT", key: ticket, body });
    await refresh();
    return [h("p", {}, "Replaced; cursor and ticket stay."), answer.webhook?.secret ? h("p", {}, "Secret, told this once: ", h("code", {}, answer.webhook.secret)) : null, ...forecast(answer)].filter(Boolean);
  } });
  left.push(() => editor.leave());
  return h("details", { class: "edit" }, h("summary", {}, "Another text or policy"), editor.element);
}
