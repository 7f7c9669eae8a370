// Saves the view as it is to one file that needs nothing: its style and pictures are in it.

import { h } from "./dom.js";

export async function saved() {
  const style = await (await fetch("page/page.css")).text();
  const copy = document.documentElement.cloneNode(true);
  const canvases = [...document.querySelectorAll("canvas")];
  copy.querySelectorAll("canvas").forEach((each, at) => {
    const label = each.getAttribute("aria-valuetext") ?? each.getAttribute("aria-label") ?? "";
    each.replaceWith(h("img", { class: each.className, src: canvases[at].toDataURL(), alt: label }));
  });
  copy.querySelectorAll("script, link, dialog, noscript, button, form, input, .skip, header nav, footer").forEach((each) => each.remove());
  copy.querySelectorAll("a").forEach((each) => each.replaceWith(...each.childNodes));
  copy.querySelector("head").append(h("style", {}, style));
  copy.querySelector("main").append(h("p", { class: "quiet" }, `Saved at ${new Date().toISOString()} from ${location.origin}.`));
  return `<!doctype html>\n${copy.outerHTML}\n`;
}

export async function save() {
  const address = URL.createObjectURL(new Blob([await saved()], { type: "text/html" }));
  const name = document.title.replace(/[^\w-]+/g, "-").replace(/^-|-$/g, "");
  h("a", { href: address, download: `${name}.html` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
