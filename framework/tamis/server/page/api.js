// Asks the server. Keys and tickets are in this tab's session storage and in headers, nowhere else.

const ADMIN = "tamis.admin", TICKETS = "tamis.tickets";

export class Refused extends Error {
  constructor(problem, status, after) {
    super(problem.detail || problem.title || `the server answered ${status}`);
    this.problem = problem;
    this.status = status;
    this.after = after;
  }
}

export const adminKey = () => sessionStorage.getItem(ADMIN);

export function setAdminKey(key) {
  if (key) sessionStorage.setItem(ADMIN, key);
  else sessionStorage.removeItem(ADMIN);
}

export const tickets = () => JSON.parse(sessionStorage.getItem(TICKETS) ?? "{}");

export const ticketOf = (id) => (Object.hasOwn(tickets(), id) ? tickets()[id] : null);

export function keepTicket(id, ticket) {
  const all = Object.entries(tickets()).filter(([name]) => name !== id);
  if (ticket) all.push([id, ticket]);
  sessionStorage.setItem(TICKETS, JSON.stringify(Object.fromEntries(all)));
}

// what opens a subscription for reading: its ticket, else the admin key
export const keyTo = (id) => ticketOf(id) ?? adminKey();

export const path = (...parts) => parts.map(encodeURIComponent).join("/");

export async function ask(address, { method = "GET", key = null, body, headers = {}, signal } = {}) {
  const given = { ...headers };
  if (key) given.Authorization = `Bearer ${key}`;
  if (body !== undefined) given["Content-Type"] = "application/json";
  const answer = await fetch(address, {
    method, signal, headers: given, credentials: "omit", cache: "no-store",
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

async function refusal(answer) {
  let problem = {};
  try {
    problem = await answer.json();
  } catch {
    problem = { title: answer.statusText };
  }
  return new Refused(problem, answer.status, Number(answer.headers.get("Retry-After")) || 1);
}

export async function json(address, options) {
  const answer = await ask(address, options);
  return answer.status === 204 ? null : answer.json();
}

// the first subscriptions with some words, for who has the admin key
export const some = (words, limit, signal) =>
  json(`subscriptions?limit=${limit}&words=${encodeURIComponent(words.trim())}`, { key: adminKey(), signal });

// the events of a stream; ends when the server does, or the signal says so
export async function* stream(address, options) {
  const answer = await ask(address, options);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", record = { data: [] };
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (record.id !== undefined || record.data.length) yield { ...record, data: record.data.join("\n") };
          record = { data: [] };
          continue;
        }
        const [, field, text] = /^([^:]*)(?::\s?(.*))?$/.exec(line);
        if (field === "data") record.data.push(text ?? "");
        else if (field === "id" || field === "event") record[field] = text;
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

// the samples of /metrics: name, labels and value
export async function metrics() {
  const text = await (await ask("metrics")).text();
  const found = [];
  for (const line of text.split("\n")) {
    const read = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!read) continue;
    const labels = {};
    for (const [, name, value] of (read[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
    found.push({ name: read[1], labels, value: Number(read[3]) });
  }
  return found;
}

export const sample = (found, name, labels = {}) =>
  found.find((each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value))?.value;
