// Shows the image of an event with what is outlined on it. An outline is [label, [[x, y], …]] in pixels:
// an entry of the event's `outlines`, or the JSON text of one as an answer or a binding.

import { ask, path } from "./api.js";
import { h, svg } from "./dom.js";

const MOST_KEPT = 40, COLORS = 7;
const kept = new Map();

// the content of an event, with its image; asked once
export function contentOf(id, key) {
  if (!kept.has(id)) {
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
    const asked = ask(`${path("events", id)}/content`, { key }).then((answer) => answer.json());
    asked.catch(() => kept.delete(id));
    kept.set(id, asked);
  }
  return kept.get(id);
}

export const forgetContents = () => kept.clear();

export function outlineOf(value) {
  let read = value;
  if (typeof value === "string" && value.startsWith("[")) {
    try {
      read = JSON.parse(value);
    } catch {
      return null;
    }
  }
  if (!Array.isArray(read) || typeof read[0] !== "string" || !Array.isArray(read[1])) return null;
  const isCorner = (each) => Array.isArray(each) && each.length === 2 && each.every(Number.isFinite);
  return read[1].length > 1 && read[1].every(isCorner) ? { label: read[0], corners: read[1] } : null;
}

export const outlinesIn = (values) => values.map(outlineOf).filter(Boolean);

export const outlinesOfMatches = (matches) =>
  outlinesIn((matches ?? []).flatMap((each) => (each.bindings ?? []).flatMap(Object.values))).slice(0, 300);

// the frame, as soon as its image is read; null where there is none that a browser shows
export async function frameOf(content, outlines, label) {
  const source = content?.image;
  if (typeof source !== "string" || !source.startsWith("data:image/")) return null;
  const image = new Image();
  image.src = source;
  try {
    await image.decode();
  } catch {
    return null;
  }
  const { naturalWidth: width, naturalHeight: height } = image;
  const all = [...outlinesIn(content.outlines ?? []), ...outlines];
  const labels = [...new Set(all.map((each) => each.label))];
  const boxes = all.map(({ label: name, corners }) =>
    svg("polygon", { points: corners.map((each) => each.join(",")).join(" "), class: `box b${labels.indexOf(name) % COLORS}` },
      svg("title", {}, name)));
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    svg("image", { href: source, width, height }), boxes);
  const legend = labels.map((name, at) =>
    h("li", {}, h("span", { class: `swatch b${at % COLORS}` }), `${name} ${all.filter((each) => each.label === name).length}`));
  return h("div", { class: "frame" }, drawn, legend.length ? h("ul", { class: "legend" }, legend) : null);
}
