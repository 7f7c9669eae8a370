// Follows the log of the server. Pausing is a cursor: the stream is left at a position, and resumed
// behind it, so nothing is dropped. Ten thousand events are held, their contents for the last few.

import { adminKey, metrics, sample, stream } from "./api.js";
import { outlinesOfMatches } from "./frames.js";
import { positionOf } from "./places.js";

export const MOST = 10000;
const CONTENTS = 60, EARLIER = 300, FIRST_PAUSE = 500, LONGEST_PAUSE = 10000;

class Follower extends EventTarget {
  events = [];
  cursor = null; // the last position that was taken
  paused = false;
  state = "no key"; // or: connecting, live, paused, refused, away
  reason = "";
  missing = 0; // entries that retention had removed before they were read
  #abort = null;
  #run = 0;

  #tell(state, reason = "") {
    this.state = state;
    this.reason = reason;
    this.dispatchEvent(new Event("change"));
  }

  start() {
    this.#end();
    if (!adminKey()) return this.#tell("no key");
    if (this.paused) return this.#tell("paused");
    this.#follow(this.#run);
  }

  forget() {
    this.#end();
    this.events = [];
    this.cursor = null;
    this.missing = 0;
    this.paused = false;
    this.start();
  }

  pause() {
    this.paused = true;
    this.#end();
    this.#tell("paused");
  }

  resume() {
    this.paused = false;
    this.start();
  }

  #end() {
    this.#run += 1;
    this.#abort?.abort();
    this.#abort = null;
  }

  async #follow(run) {
    let pause = FIRST_PAUSE;
    const isOver = () => run !== this.#run;
    while (!isOver()) {
      this.#tell("connecting");
      this.#abort = new AbortController();
      try {
        if (this.cursor === null) {
          const first = Math.max(0, (sample(await metrics(), "tamis_cursor") ?? 0) - EARLIER);
          if (isOver()) return;
          this.cursor = first;
        }
        const entries = stream(`events?after=${this.cursor}`, { key: adminKey(), signal: this.#abort.signal });
        for await (const entry of entries) {
          if (isOver()) return;
          pause = FIRST_PAUSE;
          this.#take(entry);
        }
      } catch (failure) {
        if (isOver()) return;
        if (failure.status === 401 || failure.status === 403) return this.#tell("refused", failure.message);
        this.#tell("away", failure.message);
      }
      await new Promise((done) => setTimeout(done, pause));
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }

  #take(entry) {
    const position = Number(entry.id);
    this.cursor = position;
    if (!entry.data) return this.#tell("live"); // how the stream begins
    if (entry.event === "gap" && this.events.length) this.missing += JSON.parse(entry.data).missing;
    if (entry.event === "publish") {
      this.events.push(summary(position, JSON.parse(entry.data)));
      if (this.events.length > MOST + 500) this.events.splice(0, this.events.length - MOST);
      const old = this.events[this.events.length - 1 - CONTENTS];
      if (old) old.content = old.outlines = null;
    }
    this.dispatchEvent(new Event("change"));
  }
}

function summary(position, data) {
  const account = data.account ?? {}, candidates = account.candidates ?? 0;
  return {
    position, id: data.id, at: data.at, content: data.event,
    subscriptions: account.subscriptions ?? 0, candidates,
    undecided: account.undecided ?? 0,
    matches: data.matches?.length ?? 0, undetermined: data.undetermined?.length ?? 0,
    matched: (data.matches ?? []).slice(0, 20).map((each) => ({ id: each.subscription, bindings: bindingsOf(each) })),
    calls: account.calls ?? 0, spared: account.spared ?? 0, needed: account.needed_at_least ?? 0,
    seconds: Object.values(account.seconds ?? {}).reduce((sum, each) => sum + each, 0),
    failure: data.failure, place: positionOf(data.event),
    outlines: outlinesOfMatches(data.matches),
    image: Boolean(data.event?.image) || (data.payloads ?? []).includes("image"),
  };
}

const bindingsOf = (match) => (match.bindings ?? []).slice(0, 3);

// what some events add up to
export function totals(events) {
  const sum = { events: events.length, calls: 0, spared: 0, needed: 0, matches: 0, undetermined: 0 };
  for (const each of events) for (const name of ["calls", "spared", "needed", "matches", "undetermined"]) sum[name] += each[name];
  return sum;
}

export const follower = new Follower();
