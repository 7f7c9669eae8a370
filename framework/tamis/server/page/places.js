// Finds where an event is, and draws a quiet map: bundled outlines, no tiles.

import { count, counted, token } from "./dom.js";

const REACH = 12;

// [longitude, latitude] of an event: of its `position` as the spatial operators read it, or lon and lat
export function positionOf(event) {
  if (!event) return null;
  const found = pointOf(event.position) ?? pointOf(event);
  return found && found.every(Number.isFinite) && Math.abs(found[1]) <= 90 ? found : null;
}

function pointOf(value) {
  if (!value || typeof value !== "object") return null;
  if (Array.isArray(value)) {
    return typeof value[0] === "number" ? [value[0], value[1]] : pointOf(value[0]);
  }
  if (value.coordinates) return pointOf(value.coordinates);
  if (value.geometry) return pointOf(value.geometry);
  const lon = value.lon ?? value.lng ?? value.longitude, lat = value.lat ?? value.latitude;
  return typeof lon === "number" && typeof lat === "number" ? [lon, lat] : null;
}

let outlines = null;

async function loadOutlines() {
  const answer = await fetch("page/outlines.geojson");
  const features = answer.ok ? (await answer.json()).features : [];
  return features.map(({ properties, geometry }) => ({
    name: properties.name,
    rings: (geometry.type === "MultiPolygon" ? geometry.coordinates : [geometry.coordinates]).map((each) => each[0]),
  }));
}

export class PlaceMap {
  #land = [];
  #near = () => null;

  constructor(canvas, redraw, open) {
    this.canvas = canvas;
    canvas.addEventListener("click", (event) => {
      const found = this.#near(event.offsetX, event.offsetY);
      if (found) open(found);
    });
    outlines ??= loadOutlines();
    outlines.then((found) => { this.#land = found; redraw(); }, () => undefined);
  }

  draw(events) {
    const { canvas } = this, width = canvas.clientWidth, height = canvas.clientHeight;
    const there = events.filter((each) => each.place);
    const context = sized(canvas, width, height);
    canvas.setAttribute("aria-label", there.length
      ? `Map of ${counted(there.length, "event")}; ${count(there.filter((each) => each.matches).length)} of them matched`
      : "Map: no event says where it is");
    if (!width) return;
    const project = this.#projection(there, width, height);
    this.#near = (x, y) => nearest(there, project, x, y);
    this.#drawLand(context, project);
    const dots = { none: [token("--bound"), 1.5], some: [token("--match"), 3.2] };
    for (const [kind, [color, size]] of Object.entries(dots)) {
      context.fillStyle = color;
      for (const each of there) {
        if ((each.matches > 0) !== (kind === "some")) continue;
        const [x, y] = project(each.place);
        context.fillRect(x - size / 2, y - size / 2, size, size);
      }
    }
    const last = there.at(-1);
    if (last) {
      const [x, y] = project(last.place);
      context.strokeStyle = token("--spatial");
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x, y, 7, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  // the outlines where they are near, else around the events
  #projection(there, width, height) {
    const box = bounds(there.map((each) => each.place)) ?? bounds(this.#land.flatMap((each) => each.rings.flat())) ?? [-180, -60, 180, 75];
    for (const { rings } of this.#land) {
      const own = bounds(rings.flat());
      const isNear = own[0] < box[2] + 0.2 && own[2] > box[0] - 0.2 && own[1] < box[3] + 0.2 && own[3] > box[1] - 0.2;
      if (isNear) [0, 1, 2, 3].forEach((at) => { box[at] = (at < 2 ? Math.min : Math.max)(box[at], own[at]); });
    }
    const middle = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    const squeeze = Math.max(0.1, Math.cos((middle[1] * Math.PI) / 180));
    const scale = Math.min(
      (width - 24) / Math.max((box[2] - box[0]) * squeeze, 1e-3),
      (height - 24) / Math.max(box[3] - box[1], 1e-3),
    );
    return ([lon, lat]) => [width / 2 + (lon - middle[0]) * squeeze * scale, height / 2 - (lat - middle[1]) * scale];
  }

  #drawLand(context, project) {
    context.fillStyle = token("--land");
    context.strokeStyle = token("--coast");
    context.lineWidth = 1;
    for (const { rings } of this.#land) {
      for (const ring of rings) {
        context.beginPath();
        ring.forEach((point, at) => context[at ? "lineTo" : "moveTo"](...project(point)));
        context.closePath();
        context.fill();
        context.stroke();
      }
    }
    context.fillStyle = token("--soft");
    context.font = `italic 13px ${token("--serif")}`;
    context.textAlign = "center";
    for (const { name, rings } of this.#land) {
      const box = bounds(rings.flat());
      context.fillText(name, ...project([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]));
    }
  }
}

// the last one of the events next to a place of the map, those that matched first
function nearest(there, project, x, y) {
  let found = null, least = REACH;
  for (const each of there) {
    const at = project(each.place), far = Math.hypot(at[0] - x, at[1] - y) + (each.matches ? 0 : REACH / 2);
    if (far <= least) [found, least] = [each, far];
  }
  return found;
}

function bounds(points) {
  if (!points.length) return null;
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [lon, lat] of points) {
    if (lon < box[0]) box[0] = lon;
    if (lat < box[1]) box[1] = lat;
    if (lon > box[2]) box[2] = lon;
    if (lat > box[3]) box[3] = lat;
  }
  return box;
}

// a canvas of sharp pixels, cleared
export function sized(canvas, width, height) {
  const dense = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
  }
  const context = canvas.getContext("2d");
  context.setTransform(dense, 0, 0, dense, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
