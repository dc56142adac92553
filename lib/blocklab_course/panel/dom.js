/** Elements, attributes and keys: what the player needs of the document. */

import { keyStop } from "./stops.js";

const SVG = "http://www.w3.org/2000/svg";
export const svg = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);
export const html = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);

/** Set attributes, except null ones, and append children. */
export function filled(node, { style, ...attributes } = {}, children = []) {
  for (const [key, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(key, value);
  if (style) node.style.cssText = style;
  node.append(...children);
  return node;
}

export const div = (name, ...children) => html("div", { class: `blocklab-${name}` }, ...children);

export function button(text, press, name = null) {
  const node = html("button", { type: "button", class: name && `blocklab-${name}` }, text);
  node.addEventListener("click", press);
  return node;
}

/** Handle keys: `act(key)` returns whether it used the key; other keys propagate. */
export function onKey(node, act) {
  node.addEventListener("keydown", (event) => isPlain(event) && act(event.key) && event.preventDefault());
}

/** Call `move` for keys that lead to another stop. */
export function onArrows(node, stop, last, move, keys = /./) {
  onKey(node, (key) => {
    const goal = keys.test(key) ? keyStop(key, stop(), last()) : null;
    return goal !== null && (move(goal), true);
  });
}

export const isPlain = (event) => !(event.ctrlKey || event.altKey || event.metaKey || event.shiftKey);
export const setText = (node, text) => node.textContent === text || (node.textContent = text);
