// Edits a subscription: as one types, a dry run says what is wrong, under its caret, and what it would
// add; before it is saved it can be tried on what has happened.

import { json, ask } from "./api.js";
import { clock, count, counted, eventLink, figures, h, seconds, table } from "./dom.js";

const PAUSE = 300, AGAIN = 1000, NEVER = "2200-01-01T00:00:00Z";
const STRETCHES = [["3600", "the last hour"], ["86400", "the last day"], ["604800", "the last week"], ["", "all that is kept"]];

export class Editor {
  #timer = 0;
  #abort = null;
  #requestKey = null;
  #sent = null;

  // `save(body, key)` keeps it and says what to show then; `initial` is what is edited, with its id
  constructor({ initial = {}, save, words }) {
    const isNew = initial.id === undefined, pre = isNew ? "new" : "edit";
    this.where = h("textarea", { id: `${pre}-where`, rows: "4", spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-describedby": `${pre}-errors` });
    this.where.value = initial.where ?? "";
    this.marks = h("div", { class: "marks", "aria-hidden": "true" });
    this.errors = h("div", { class: "errors", id: `${pre}-errors`, role: "status" });
    this.forecast = h("div", { class: "forecast", role: "status" });
    this.past = h("div", { role: "status" });
    this.done = h("div", { role: "status", tabindex: "-1", class: "done" });
    const field = (name, value, about) => {
      this[name] = h("input", { id: `${pre}-${name}`, spellcheck: "false", autocomplete: "off", "aria-describedby": `${pre}-${name}-about` });
      this[name].value = value ?? "";
      this[name].addEventListener("input", () => this.#changed());
      return h("p", { class: "field" }, h("label", { for: `${pre}-${name}` }, name), this[name], h("span", { class: "quiet", id: `${pre}-${name}-about` }, about));
    };
    this.rest = Object.fromEntries(Object.entries(initial.document ?? {}).filter(([name]) => !["where", "deliver", "webhook"].includes(name)));
    this.stretch = h("select", { id: `${pre}-stretch` }, STRETCHES.map(([value, text]) => h("option", { value }, text)));
    this.calls = h("input", { id: `${pre}-calls`, type: "number", min: "0", max: "1000", value: "0" });
    this.button = h("button", { class: "main", type: "submit" }, words);
    this.trial = h("button", { type: "button", onclick: () => this.#backtest() }, "Try it on the past");
    this.element = h("form", { class: "editor", novalidate: true, onsubmit: (event) => { event.preventDefault(); this.#save(save); } },
      h("label", { for: `${pre}-where`, class: "over" }, "where"),
      h("div", { class: "text" }, this.marks, this.where), this.errors, this.forecast,
      h("div", { class: "fields" },
        isNew ? field("id", "", "made by the server where it is empty") : null,
        field("validity", "", isNew ? "10min, PT1H, 3600; a day where it is empty" : "as it is where it is empty"),
        field("deliver", initial.document?.deliver ? JSON.stringify(initial.document.deliver) : "", 'a policy, as {"cooldown": "10min"}'),
        field("webhook", initial.document?.webhook?.url ?? "", "where deliveries are sent to")),
      h("p", { class: "actions" }, this.button, this.trial,
        h("span", { class: "field" }, h("label", { for: `${pre}-stretch` }, "over"), this.stretch),
        h("span", { class: "field" }, h("label", { for: `${pre}-calls` }, "calls that it may make"), this.calls)),
      this.past, this.done);
    this.where.addEventListener("input", () => this.#changed());
    this.where.addEventListener("scroll", () => { this.marks.scrollTop = this.where.scrollTop; });
    if (initial.where) this.#changed();
  }

  leave() {
    clearTimeout(this.#timer);
    this.#abort?.abort();
  }

  body() {
    const body = { ...this.rest, where: this.where.value };
    for (const name of ["id", "validity", "webhook"]) if (this[name]?.value.trim()) body[name] = this[name].value.trim();
    if (this.deliver.value.trim()) {
      try {
        body.deliver = JSON.parse(this.deliver.value);
      } catch (failure) {
        throw new SyntaxError(`deliver is no JSON: ${failure.message}`);
      }
    }
    return body;
  }

  #changed() {
    this.#mark([]);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), PAUSE);
  }

  async #check() {
    this.#abort?.abort();
    if (!this.where.value.trim()) return this.#clear();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    try {
      const said = await json(`subscriptions?dry_run=true&limit=0&since=${NEVER}`, { method: "POST", body: this.body(), signal });
      if (signal.aborted) return;
      this.#tell([]);
      this.forecast.replaceChildren(...forecast(said));
    } catch (failure) {
      if (signal.aborted || failure.name === "AbortError") return;
      if (failure.status === 429) this.#timer = setTimeout(() => this.#check(), failure.after * AGAIN);
      else this.#refused(failure);
    }
  }

  #clear() {
    this.#tell([]);
    this.forecast.replaceChildren();
  }

  #refused(failure) {
    this.forecast.replaceChildren();
    this.#tell(failure.problem?.errors ?? [{ detail: failure.message }]);
  }

  // each error, with its excerpt and caret; by its button the cursor goes there
  #tell(errors) {
    this.where.setAttribute("aria-invalid", errors.length ? "true" : "false");
    this.#mark(errors.filter((each) => each.line));
    this.errors.replaceChildren(...errors.map((each) => h("div", { class: "error" },
      each.excerpt ? h("pre", {}, each.excerpt) : null,
      h("p", {}, each.line ? h("button", { type: "button", class: "place", onclick: () => this.#goTo(each) }, `line ${each.line}, column ${each.column}`) : null,
        each.line ? ": " : "", each.detail))));
  }

  #offset({ line, column }) {
    const lines = this.where.value.split("\n").slice(0, line);
    const before = lines.slice(0, -1).reduce((sum, each) => sum + each.length + 1, 0);
    return before + Array.from(lines.at(-1) ?? "").slice(0, column - 1).join("").length;
  }

  #goTo(error) {
    const at = this.#offset(error);
    this.where.focus();
    this.where.setSelectionRange(at, at);
  }

  // underlines what is wrong, in a copy of the text that lies under it
  #mark(errors) {
    const text = this.where.value, parts = [];
    let at = 0;
    for (const start of [...new Set(errors.map((each) => this.#offset(each)))].sort((one, other) => one - other)) {
      const word = /^[\w]+|^[^]/u.exec(text.slice(start))?.[0] ?? " ";
      if (start < at) continue;
      parts.push(text.slice(at, start), h("mark", {}, word));
      at = start + word.length;
    }
    this.marks.replaceChildren(...parts, text.slice(at), "\n");
    this.marks.scrollTop = this.where.scrollTop;
  }

  async #backtest() {
    this.trial.disabled = true;
    this.past.replaceChildren(h("p", { class: "quiet" }, "Trying it on what has happened …"));
    try {
      const since = this.stretch.value && `&since=${new Date(Date.now() - 1000 * Number(this.stretch.value)).toISOString()}`;
      const said = await json(`subscriptions?dry_run=true&limit=20&calls=${Number(this.calls.value) || 0}${since}`, { method: "POST", body: this.body() });
      this.past.replaceChildren(...backtest(said));
    } catch (failure) {
      this.past.replaceChildren(h("p", { class: "problem" }, failure.message));
    }
    this.trial.disabled = false;
  }

  async #save(save) {
    this.done.replaceChildren();
    clearTimeout(this.#timer);
    try {
      const body = this.body(), text = JSON.stringify(body);
      if (text !== this.#sent) this.#requestKey = randomKey();
      this.#sent = text;
      const shown = await save(body, this.#requestKey);
      this.#sent = null;
      this.done.replaceChildren(...shown);
      this.done.focus();
    } catch (failure) {
      this.#refused(failure);
      this.where.focus();
    }
  }
}

const randomKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, "0")).join("");

export const subscribe = async (body, key) =>
  (await ask("subscriptions", { method: "POST", body, headers: { "Idempotency-Key": key } })).json();

export function forecast({ forecast: said, warnings = [] }) {
  const rows = Object.entries(said.calls).map(([call, often]) =>
    [h("code", {}, call), often.toPrecision(2), said.shared[call] ? counted(said.shared[call], "other") : "nobody"]);
  return [
    ...warnings.map((each) => h("p", { class: "warning" }, each)),
    figures([["calls an event it adds", said.calls_per_event.toPrecision(2)], ["seconds an event", seconds(said.seconds_per_event)],
      ["matches", `${(100 * said.matches_per_event).toPrecision(2)}% of events`],
      ...(said.seconds_per_day === null ? [] : [["seconds a day", count(said.seconds_per_day)]])]),
    rows.length ? table("Its calls", [["call"], ["an event", true], ["shared with", true]], rows) : h("p", { class: "quiet" }, "It asks no operator."),
    h("p", { class: "quiet" }, `Imagined on ${count(said.events)} ${said.basis}.`)];
}

function backtest(said) {
  const notes = [said.complete ? "" : "Twenty seconds were over: it ended early.", said.gap ? "The log begins later than that." : "",
    said.calls.lacking ? `${counted(said.calls.lacking, "answer")} nobody had asked for; allow calls to ask now.` : "", said.failure ?? ""].filter(Boolean);
  const rows = said.matches.map((each) => [eventLink(each.event), clock(each.time), JSON.stringify(each.bindings).slice(0, 80)]);
  return [
    figures([["events", count(said.events), "past-events"], ["would have matched", count(said.matched), "past-matched"], ["delivered", count(said.delivered)],
      ["left open", count(said.open)], ["calls made now", count(said.calls.made)]]),
    ...notes.map((each) => h("p", { class: "quiet" }, each)),
    rows.length ? table("The first that it would have matched", [["event"], ["at"], ["with"]], rows) : h("p", { class: "quiet" }, "It would have matched nothing.")];
}
