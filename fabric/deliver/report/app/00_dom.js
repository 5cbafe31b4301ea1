"use strict";

// Elements, built node by node: text of a plan never becomes markup.

/** An HTML element. An attribute `onclick: f` is a listener; null, undefined and false leave an attribute out. */
function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** The entry of the terms at the end of the page for a title: of `busbw, GB/s` that of busbw; null where there is none. */
function entryOf(title) {
  const name = title.split(",")[0].toLowerCase();
  return document.getElementById("term-" + name.replace(/[^a-z0-9]+/g, "-"));
}

function meaningOf(title) {
  return entryOf(title)?.querySelector("dd").textContent || "";
}

/** A title as a button that shows what it means; as text where it needs none. */
function term(title) {
  const entry = entryOf(title);
  return entry
    ? html("button", { type: "button", class: "term", popovertarget: entry.id, title: meaningOf(title) }, title)
    : title;
}

/** The head of a small table. */
function headOf(titles) {
  return html("thead", {}, html("tr", {}, titles.map((title) => html("th", { scope: "col" }, term(title)))));
}

/** Runs `draw`, which replaces what is inside `root`, and gives the focus back to the element of the same `data-key`. */
function keepingFocus(root, draw) {
  const active = document.activeElement;
  const key = active && root.contains(active) ? active.dataset.key : undefined;
  const scrolled = [...root.querySelectorAll(".scroll")].map((node) => node.scrollLeft);
  draw();
  root.querySelectorAll(".scroll").forEach((node, at) => (node.scrollLeft = scrolled[at] || 0));
  if (key !== undefined) root.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const FONT = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

/** Width of a text in pixels. */
function textWidth(text, size, bold = false) {
  pen.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
  return pen.measureText(text).width;
}

/** The text in lines that fit. */
function folded(text, room, size, bold = false) {
  return text.split(" ").reduce((lines, word) => {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    return lines.length && textWidth(longer, size, bold) > room ? [...lines, word] : [...lines.slice(0, -1), longer];
  }, []);
}

/** The text, or as much of its end as fits: names differ at their ends. */
function endThatFits(text, room, size, bold = false) {
  if (textWidth(text, size, bold) <= room) return text;
  let from = 1;
  while (from < text.length && textWidth("…" + text.slice(from), size, bold) > room) from += 1;
  return "…" + text.slice(from);
}
