// Draws the sieve, an event a column: subscriptions, candidates, undecided and matches one in the
// other on a scale of powers of ten; below, the calls that were made and those that were spared.
// By the keyboard it is a slider over the events: arrows, Home and End move, Enter opens.

import { count, counted, token } from "./dom.js";
import { sized } from "./places.js";

const LEAST = 4, MOST = 14, LOWER = 0.3, GAP = 18, EDGE = 8, LEFT = 40;
const BANDS = [["subscriptions", "--spared"], ["candidates", "--bound"], ["undecided", "--made"], ["matches", "--match"]];

export class Sieve {
  events = [];
  chosen = null; // the position in the log of the event that is chosen; the last one where none is

  constructor(canvas, open) {
    this.canvas = canvas;
    this.open = open;
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("click", (event) => {
      const each = this.#under(event);
      if (each) open(each);
    });
    canvas.addEventListener("mousemove", (event) => {
      const each = this.#under(event);
      canvas.title = each ? said(each) : "";
    });
  }

  #under(event) {
    return event.offsetX < LEFT ? undefined : this.events[this.first + Math.floor((event.offsetX - LEFT) / this.column)];
  }

  #key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
    const last = this.events.length - 1;
    if (event.key === "Enter" && last >= 0) this.open(this.events[this.#at()]);
    else if (event.key in steps && last >= 0) {
      const at = Math.max(0, Math.min(last, this.#at() + steps[event.key]));
      this.chosen = at === last ? null : this.events[at].position;
      this.draw(this.events);
    } else return;
    event.preventDefault();
  }

  #at() {
    if (this.chosen === null) return this.events.length - 1;
    const at = this.events.findIndex((each) => each.position >= this.chosen);
    return at < 0 ? this.events.length - 1 : at;
  }

  draw(events) {
    this.events = events;
    const { canvas } = this, width = canvas.clientWidth, height = canvas.clientHeight;
    const context = sized(canvas, width, height);
    const at = this.#at();
    this.#tell(at);
    if (!width || !events.length) return;
    const wide = width - LEFT;
    this.column = Math.max(LEAST, Math.min(MOST, wide / events.length));
    const many = Math.max(1, Math.floor(wide / this.column));
    this.first = Math.max(0, Math.min(events.length - many, at - (this.chosen === null ? many - 1 : Math.floor(many / 2))));
    const seen = events.slice(this.first, this.first + many);
    const base = Math.round(height * (1 - LOWER)) - GAP;
    this.#upper(context, seen, base);
    this.#lower(context, seen, base + GAP, height - EDGE);
    context.strokeStyle = token("--ink");
    context.lineWidth = 1;
    if (this.chosen !== null) context.strokeRect(LEFT + (at - this.first) * this.column - 0.5, 1, this.column, height - 2);
  }

  #upper(context, seen, base) {
    const most = Math.log10(1 + Math.max(1, ...seen.map((each) => each.subscriptions)));
    for (const [name, color] of BANDS) {
      context.fillStyle = token(color);
      seen.forEach((each, at) => {
        const tall = (Math.log10(1 + each[name]) / most) * (base - EDGE);
        context.fillRect(LEFT + at * this.column, base - tall, this.column - 1, tall);
      });
    }
    context.fillStyle = token("--soft");
    context.font = `11px ${token("--sans")}`;
    context.textAlign = "right";
    for (let power = 0; power <= most + 1e-9; power += 1) {
      const y = base - (Math.log10(1 + 10 ** power) / most) * (base - EDGE);
      if (y < EDGE) break;
      context.globalAlpha = 0.35;
      context.fillRect(LEFT, y, this.canvas.clientWidth, 1);
      context.globalAlpha = 1;
      context.fillText(count(10 ** power), LEFT - 6, y + 4);
    }
  }

  #lower(context, seen, top, bottom) {
    const most = Math.max(1, ...seen.map((each) => each.calls + each.spared));
    const scale = (bottom - top) / Math.sqrt(most);
    const tall = (calls) => Math.sqrt(calls) * scale;
    seen.forEach((each, at) => {
      const x = LEFT + at * this.column, wide = this.column - 1;
      context.fillStyle = token("--spared");
      context.fillRect(x, top, wide, tall(each.calls + each.spared));
      context.fillStyle = token("--made");
      context.fillRect(x, top, wide, tall(each.calls));
      context.fillStyle = token("--match");
      if (each.needed) context.fillRect(x, top + tall(each.needed) - 1, wide, 1.5);
    });
  }

  #tell(at) {
    const { canvas, events } = this, each = events[at];
    canvas.setAttribute("aria-valuemin", 0);
    canvas.setAttribute("aria-valuemax", Math.max(0, events.length - 1));
    canvas.setAttribute("aria-valuenow", Math.max(0, at));
    canvas.setAttribute("aria-valuetext", each ? said(each) : "no event yet");
  }
}

const said = (each) =>
  `${each.id}: ${counted(each.subscriptions, "subscription")}, ${counted(each.candidates, "candidate")}, ` +
  `${count(each.undecided)} undecided, ${counted(each.matches, "match").replace("matchs", "matches")}; ` +
  `${counted(each.calls, "call")} made, ${count(each.spared)} spared, at least ${count(each.needed)} needed`;
