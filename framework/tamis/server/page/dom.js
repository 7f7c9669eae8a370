// Makes elements, and says numbers and times; nothing here knows the server.

const SVG = "http://www.w3.org/2000/svg";

export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

export const put = (into, ...children) => filled(into, {}, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined));
  return element;
}

export const count = (number) =>
  number === null || number === undefined || Number.isNaN(number) ? "–" : Math.round(number).toLocaleString("en-US");

export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  if (value < 1e-3) return `${Number((value * 1e6).toPrecision(2))} µs`;
  if (value < 1) return `${Number((value * 1e3).toPrecision(3))} ms`;
  return value < 100 ? `${Number(value.toPrecision(3))} s` : `${count(value)} s`;
}

export const clock = (time) => {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? String(time ?? "–") : at.toLocaleTimeString("en-GB");
};

export const ratio = (some, least) => (least > 0 ? (some / least).toFixed(2) : "–");

export function shown(value) {
  const outline = typeof value === "string" && /^\["([^"\\]+)", ?\[\[/.exec(value);
  if (outline) return `${outline[1]} (outlined)`;
  if (typeof value === "string") return value.length > 60 ? `${value.slice(0, 57)}…` : value;
  const text = JSON.stringify(value);
  return text === undefined ? "absent" : text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

export function bindingsText(bindings) {
  const texts = (bindings ?? []).map((each) => Object.entries(each).map(([name, value]) => `?${name} = ${shown(value)}`).join(", "));
  const some = texts.filter(Boolean), more = some.length - 3;
  return some.slice(0, 3).join("; ") + (more > 0 ? ` and ${count(more)} more` : "");
}

export const eventLink = (id) => h("a", { href: `#event/${encodeURIComponent(id)}` }, id);

export const subscriptionLink = (id) => h("a", { href: `#subscriptions/${encodeURIComponent(id)}` }, id);

// a table whose cells are texts or elements; columns are [title, is a number]
export function table(caption, columns, rows) {
  const head = columns.map(([title, isNumber]) => h("th", { scope: "col", class: isNumber ? "n" : null }, title));
  const body = rows.map((row) => h("tr", {}, row.map((cell, at) =>
    at === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: columns[at][1] ? "n" : null }, cell ?? ""))));
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

export function figures(pairs) {
  return h("dl", { class: "figures" }, pairs.map(([name, value, id]) =>
    h("div", {}, h("dt", {}, name), h("dd", { "data-figure": id ?? name }, value))));
}

// calls a function soon, and at most four times a second however often it is asked to
export function paced(draw, every = 250) {
  let last = -Infinity, waiting = 0;
  const run = () => {
    waiting = 0;
    last = performance.now();
    requestAnimationFrame(draw);
  };
  const ask = () => {
    if (!waiting) waiting = setTimeout(run, Math.max(0, last + every - performance.now()));
  };
  ask.stop = () => { clearTimeout(waiting); waiting = -1; };
  return ask;
}

export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
