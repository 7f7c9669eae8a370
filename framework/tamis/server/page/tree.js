// Shows an explanation as a tree: each alternative, each predicate true, false, unknown or not needed.

import { bindingsText, h, seconds, subscriptionLink } from "./dom.js";

const MARKS = { true: "✓", false: "✗", unknown: "?", open: "·" };
const WORDS = { true: "true", false: "false", unknown: "unknown", open: "not needed" };

function truthOf(record) {
  if (!("truth" in record)) return record.how === "not kept" ? "unknown" : "open";
  return record.truth === null ? "unknown" : String(record.truth);
}

function line(record) {
  const truth = truthOf(record);
  const took = record.seconds ? `, ${seconds(record.seconds)}` : "";
  const shared = record.shared_with?.length ? `, shared with ${record.shared_with.length}` : "";
  return h("li", { class: truth },
    h("span", { class: "truth" }, h("span", { "aria-hidden": "true" }, MARKS[truth]), ` ${WORDS[truth]}`),
    h("span", { class: "asked" }, h("code", {}, record.predicate), record.detail ? h("span", { class: "detail" }, record.detail) : null),
    h("span", { class: "how" }, `${record.how ?? ""}${took}${shared}`));
}

export function tree(data) {
  const several = data.alternatives.length > 1;
  const verb = { matched: "matches", "not matched": "does not match", undetermined: "is undetermined for" }[data.verdict] ?? data.verdict;
  const branches = data.alternatives.map((alternative, at) => {
    const lines = h("ul", { class: "tree" }, alternative.predicates.map(line));
    return several ? h("li", {}, h("p", { class: "branch" }, `Alternative ${at + 1}: ${alternative.verdict}`), lines) : lines;
  });
  const bound = bindingsText(data.bindings);
  const made = (data.deliveries ?? []).map((each) => `${each.type} ${each.id}`).join(", ");
  return h("article", { class: "why", "data-subscription": data.subscription },
    h("h3", {}, subscriptionLink(data.subscription), ` ${verb} ${data.event}`),
    data.stood === false ? h("p", { class: "because" }, "It did not stand when the event came; this is what its text says of it.") : null,
    data.because ? h("p", { class: "because" }, `because ${data.because}`) : null,
    h("pre", { tabindex: "0", "aria-label": `Text of ${data.subscription}` }, data.where),
    several ? h("ol", { class: "branches" }, branches) : branches,
    bound ? h("p", { class: "bound-to" }, `bound: ${bound}`) : null,
    data.verdict === "matched" && data.deliveries ? h("p", { class: "quiet" }, made ? `delivered ${made}` : "delivered nothing: its policy held it back") : null);
}
