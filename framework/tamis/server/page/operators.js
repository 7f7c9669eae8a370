// The view Operators and health: what operators cost and how they fail, and whether all adds up.

import { adminKey, json, metrics, sample } from "./api.js";
import { count, figures, h, seconds, table } from "./dom.js";

const EVERY = 2000;

export const title = "Operators and health";

export function render(root) {
  const body = h("div"), problem = h("p", { class: "problem", role: "alert" });
  root.append(h("h1", {}, title), problem, body);
  let isOver = false, timer = 0;
  const open = new Set();
  async function turn() {
    try {
      const found = await read();
      if (isOver) return;
      const focused = document.activeElement?.closest("[aria-label]")?.getAttribute("aria-label");
      for (const each of body.querySelectorAll("details")) open[each.open ? "add" : "delete"](each.id);
      body.replaceChildren(...sections(found));
      for (const each of body.querySelectorAll("details")) each.open = open.has(each.id);
      if (focused) [...body.querySelectorAll("[tabindex]")].find((each) => each.getAttribute("aria-label") === focused)?.focus({ preventScroll: true });
      if (problem.textContent) problem.textContent = "";
    } catch (failure) {
      if (!isOver) problem.textContent = failure.message;
    }
    if (!isOver) timer = setTimeout(turn, EVERY);
  }
  turn();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

async function read() {
  const key = adminKey();
  const plain = (address) => fetch(address, { cache: "no-store" }).then((answer) => answer.json());
  const [samples, operators, health, ready, accounts] = await Promise.all([
    metrics(), json("operators"), plain("healthz"), plain("readyz"),
    key ? json("operators/accounts", { key }).catch(() => null) : null,
  ]);
  return { samples, operators, health, ready, accounts };
}

function sections({ samples, operators, health, ready, accounts }) {
  const one = (name, labels) => sample(samples, `tamis_${name}`, labels);
  const made = [
    h("section", { "aria-labelledby": "health-title" }, h("h2", { id: "health-title" }, "Health"),
      figures([["process", health.status], ["requests", ready.status + (ready.reason ? `: ${ready.reason}` : "")],
        ["subscriptions", count(one("subscriptions"))], ["entries of the log", count(one("position"))], ["waiting to be decided", count(one("lag_entries"))],
        ["the longest wait", seconds(one("lag_seconds") ?? null)], ["waiting for the disk", count(one("queue"))]])),
    conserved(one), flushes(samples, one), costs(samples, operators, accounts), stages(samples)];
  if (accounts) made.splice(3, 0, breakers(accounts.breakers));
  else made.push(h("p", { class: "quiet" }, "Batches and breakers are shown with the admin key."));
  return made;
}

function conserved(one) {
  const states = ["due", "delivered", "pending", "dead", "gap"];
  const numbers = Object.fromEntries(states.map((state) => [state, one("deliveries", { state }) ?? 0]));
  const sum = states.slice(1).reduce((all, state) => all + numbers[state], 0), holds = sum === numbers.due;
  const offered = ["accepted", "refused", "shed"].map((outcome) => [outcome, one("events_total", { outcome }) ?? 0]);
  const words = states.slice(1).map((state) => `${count(numbers[state])} ${state}`).join(" + ");
  return h("section", { "aria-labelledby": "sums-title" }, h("h2", { id: "sums-title" }, "What has to add up"),
    h("p", { id: "conservation", class: holds ? "holds" : "problem" }, `${holds ? "✓" : "✗"} ${count(numbers.due)} due ${holds ? "=" : "≠"} ${words}`),
    h("p", {}, `Events offered ${count(one("events_total", { outcome: "offered" }) ?? 0)}: ${offered.map(([name, number]) => `${count(number)} ${name}`).join(", ")}.`),
    h("p", {}, `Webhooks: ${count(one("webhook_attempts_total", { outcome: "taken" }))} taken, ${count(one("webhook_attempts_total", { outcome: "failed" }))} failed attempts, ${count(one("webhooks_disabled"))} disabled.`));
}

function flushes(samples, one) {
  const commits = one("commits_total"), spent = one("flush_seconds_sum"), floor = one("flush_floor_seconds");
  const buckets = samples.filter((each) => each.name === "tamis_flush_seconds_bucket");
  const within = (share) => buckets.find((each) => each.value >= share * commits)?.labels.le;
  return h("section", { "aria-labelledby": "flush-title" }, h("h2", { id: "flush-title" }, "Flushes"),
    figures([["flushes", count(commits)], ["changes in each", commits ? (one("changes_total") / commits).toFixed(1) : "–"],
      ["mean", commits ? seconds(spent / commits) : "–"], ["half within", bound(within(0.5))], ["99% within", bound(within(0.99))], ["the least here", seconds(floor ?? null)]]));
}

const bound = (text) => (text === undefined ? "–" : text === "+Inf" ? "more" : seconds(Number(text)));

function costs(samples, operators, accounts) {
  const named = new Map(operators.map((each) => [each.name, each]));
  const rows = operators.map(({ name }) => {
    const one = (field) => sample(samples, `tamis_${field}_total`, { operator: name }) ?? 0;
    const calls = one("calls"), account = accounts?.operators[name];
    return { name, calls, spent: one("operator_seconds"), failed: one("failed"), memoized: one("memoized"), spared: one("spared_calls"), account };
  });
  rows.sort((one, other) => other.spent - one.spent || one.name.localeCompare(other.name));
  const cells = rows.map((each) => [
    h("code", { title: named.get(each.name)?.description ?? "" }, each.name), count(each.calls), seconds(each.calls ? each.spent / each.calls : null), seconds(each.spent),
    count(each.failed), count(each.spared), count(each.memoized), each.account?.batches ? `${count(each.account.batches)} of ${(each.account.batched / each.account.batches).toFixed(1)}` : "–"]);
  return h("section", { "aria-labelledby": "operators-title" }, h("h2", { id: "operators-title" }, "Operators"),
    table("Operators since the start, the dearest first", [["operator"], ["calls", true], ["a call", true], ["in all", true], ["failed", true], ["spared", true], ["remembered", true], ["batches", true]], cells));
}

function breakers(found) {
  return h("section", { "aria-labelledby": "breakers-title" }, h("h2", { id: "breakers-title" }, "Breakers"),
    found.length
      ? table("What failed lately", [["operator"], ["state"], ["failures in a row", true], ["reason"]], found.map((each) => [each.name, each.open ? "open" : "closed", count(each.failures), each.says ?? each.kind]))
      : h("p", { class: "quiet" }, "All are closed: nothing failed lately that opens one."));
}

function stages(samples) {
  const found = samples.filter((each) => each.name === "tamis_stage_seconds_total");
  const total = found.reduce((sum, each) => sum + each.value, 0);
  return h("section", { "aria-labelledby": "stages-title" }, h("h2", { id: "stages-title" }, "Where the time of matching goes"),
    found.length ? table("Seconds by stage", [["stage"], ["seconds", true], ["share", true]], found.map((each) => [each.labels.stage, seconds(each.value), total ? `${Math.round((100 * each.value) / total)}%` : "–"]))
      : h("p", { class: "quiet" }, "Nothing was matched yet."));
}
