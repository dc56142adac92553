/**
 * The browser side of a panel: its controls, a picture made of strokes, and a line of text.
 *
 * A state of a panel is a list of numbers, `at`: the stop of each slider, the option of each choice (-1: none), 0 or 1
 * for each toggle. The kernel answers a request for a state with a packet; the player stores and draws it, and
 * prefetches states around the control in use. `frozen` shows stored states in a page without a kernel.
 *
 * A panel may have a second arrangement of its picture, for narrow pages. A packet says which of them it shows.
 *
 * @typedef {{at: number[], narrow?: boolean, line: string, rest?: number, moving?: number[][], handles?: number,
 *            new?: Object<string, Array>, failed?: boolean, took?: number, ahead?: boolean}} Packet
 * @typedef {{kind: "slider"|"choice"|"toggle", name: string, label: string, at: number, start?: number, step?: number,
 *            last?: number, log?: boolean, whole?: boolean, options?: string[]}} Control
 * @typedef {{label: string, question: string?, options?: string[], right: number, within?: number, told: string[],
 *            skipped: string}} Guess  without options: the answer is a number
 * @typedef {{size: number[]?, narrow: number[]?, language: string, ahead: boolean, smallest: number,
 *            controls: Control[], guess: Guess?, words: Object<string, string>}} Spec  without a size: only the question
 * @typedef {{ask: (at: number[], narrow: boolean, ahead: boolean, whole: boolean) => void, moved: (at: number[]) => void,
 *            guessed: (choice: number|string) => void}} Link  the connection to the kernel
 */

// Python inlines these files in place of the lines, so that a page needs only one script.
import { clamp, controlNamed, isPlace, lastOf, playedTo, saidAt } from "./stops.js";
import { div, filled, html, isPlain, onArrows, setText, svg } from "./dom.js";
import { KINDS, padlock, question, reset } from "./controls.js";
import { isGuess, isRight } from "./guess.js";
import { handlesOf } from "./touch.js";

// ---- Bounds ---------------------------------------------------------------------------------------------------------
const MOST_KEPT = 32e6; // characters of states and records of all panels in the document
const UNANSWERED = 200; // ms of kernel time in unanswered requests, so that the next cell does not wait
const ONE_TOUCH = 2000; // ms of kernel time that one touch may prefetch
const SAME_TOUCH = 1000; // ms: moves closer together than this are one touch
const OVERDUE = 10_000; // ms without an answer
const SMALLEST_LETTER = 9; // px
const IN_HAND = 4; // without a kernel: weight of the slider in use, relative to the other controls
const NARROW = 520; // px: a narrower panel folds all but the first controls
const IN_SIGHT = 2; // controls that a narrow panel does not fold

// ---- States ---------------------------------------------------------------------------------------------------------
/** Whether a message is a packet of this panel. @param {Control[]} controls */
export function isPacket(message, controls) {
  if (message?.kind !== "state" || typeof message.line !== "string" || !isPlace(message.at, controls)) return false;
  const { failed, rest, moving } = message;
  return failed === true || (Number.isInteger(rest) && Array.isArray(moving) && moving.every(Array.isArray));
}

const keyOf = (at, narrow = false) => at.join() + (narrow ? " narrow" : "");
const replaced = (at, index, place) => at.map((old, i) => (i === index ? place : old));

// ---- Nearest states and prefetching ---------------------------------------------------------------------------------
/** The state nearest to a place; `best` is kept unless another is nearer. Distances are relative to the length of a
 *  slider; options are equal or not. @param {Iterable<Packet>} states @param {number[]} weights of the controls */
export function nearest(states, at, controls, weights, best = null) {
  const whole = controls.map((control, i) => (control.kind === "slider" ? control.last : 0) / weights[i]);
  const gap = (place, i) => (whole[i] ? Math.abs(place - at[i]) / whole[i] : weights[i] * (place !== at[i]));
  const distance = (state) => state.at.reduce((sum, place, i) => sum + gap(place, i), 0);
  let least = best ? distance(best) : Infinity;
  for (const state of states) {
    const far = distance(state);
    if (far < least) [best, least] = [state, far];
  }
  return best;
}

/** All other stops, nearest first: three ahead in the direction of movement for each one behind. */
export function* stopsAround(stop, last, way) {
  const [step, share] = [way < 0 ? -1 : 1, way ? 3 : 1];
  for (let turn = 0; turn < last; turn++) {
    const fore = Array.from({ length: share }, (_, i) => stop + step * (share * turn + i + 1));
    yield* [...fore, stop - step * (turn + 1)].filter((place) => place >= 0 && place <= last);
  }
}

/** Whether one more request may be sent: always if the reader waits for it, otherwise as many as fill the round trip,
 *  within UNANSWERED. Times in ms. @param {{ahead: boolean, cost: number}[]} underWay @param {number} took */
export function mayAsk(underWay, trip, took, ahead) {
  if (!ahead && underWay.every((question) => question.ahead)) return true;
  const cost = underWay.reduce((sum, question) => sum + question.cost, took);
  return underWay.length < Math.ceil(trip / took) + 1 && cost <= UNANSWERED;
}

// ---- Stored states --------------------------------------------------------------------------------------------------
/** State shared by all panels of a document, even if each loads its own copy of this file. */
const shared = () => (globalThis[Symbol.for("blocklab")] ??= { ids: 0, size: 0, kept: new Set(), inHand: null });
const sizeOf = (what) => JSON.stringify(what).length;

/** The numbers that a record refers to. @param {Array} record @returns {number[]} */
export function namedBy([kind, first, second, , fourth]) {
  const named = {
    rest: () => first,
    path: () => [first, second, fourth],
    marks: () => [first, second],
    text: () => [first, second, ...fourth.filter((_, i) => i % 3 === 0)],
    image: () => [first],
  };
  return (named[kind]?.() ?? []).filter(Boolean);
}

/** The numbers that a state refers to. @param {Packet} state */
const numbersOf = ({ rest, moving, handles }) => [rest, handles, ...moving.flat()].filter(Boolean);

/** The states of one panel and their records. New states evict the oldest of all panels. */
export class Store {
  states = new Map(); // key: {store, key, at, narrow, line, rest, moving, size}
  records = new Map(); // number: record
  present = null; // the state that is never evicted
  #complete = new Set(); // numbers stored with all their references

  /** Store a packet. False if records that it refers to are missing. @param {Packet} packet */
  take({ at, narrow = false, line, rest, moving, handles = 0, new: fresh = {} }) {
    for (const [number, record] of Object.entries(fresh)) {
      if (!Array.isArray(record) || this.records.has(Number(number))) continue;
      this.records.set(Number(number), record);
      shared().size += sizeOf(record);
    }
    if (!this.#reach(numbersOf({ rest, moving, handles }), this.#complete)) {
      this.#complete.clear();
      return false;
    }
    const key = keyOf(at, narrow);
    const state = { store: this, key, at, narrow, line, rest, moving, handles, size: 100 + line.length + sizeOf(moving) };
    this.#drop(this.states.get(key));
    this.states.set(key, state);
    shared().kept.add(state);
    shared().size += state.size;
    makeRoom();
    return true;
  }

  /** Mark a state as shown and as the most recently used. */
  look(state) {
    this.present = state;
    shared().kept.delete(state);
    shared().kept.add(state);
  }

  /** Drop these states, and records that no other state needs. */
  forget(states) {
    states.forEach((state) => this.#drop(state));
    this.#complete.clear();
    for (const state of this.states.values()) this.#reach(numbersOf(state), this.#complete);
    for (const number of [...this.records.keys()].filter((each) => !this.#complete.has(each))) {
      shared().size -= sizeOf(this.records.get(number));
      this.records.delete(number);
    }
  }

  #drop(state) {
    if (!shared().kept.delete(state)) return;
    this.states.delete(state.key);
    shared().size -= state.size;
  }

  /** Add these numbers and all their references to `found`; false if a record is missing. */
  #reach(numbers, found) {
    const fresh = numbers.filter((number) => !found.has(number));
    fresh.forEach((number) => found.add(number));
    return fresh.every((number) => this.records.has(number) && this.#reach(namedBy(this.records.get(number)), found));
  }
}

/** Stay within the bound: drop the oldest quarter of all states, except those being shown. */
function makeRoom() {
  while (shared().size > MOST_KEPT) {
    const old = [...shared().kept].filter((state) => state.store.present !== state);
    if (!old.length) return;
    const going = old.slice(0, Math.ceil(old.length / 4));
    for (const store of new Set(going.map((state) => state.store))) {
      store.forget(going.filter((state) => state.store === store));
    }
  }
}

// ---- Requests -------------------------------------------------------------------------------------------------------
/** The open requests, and the round trip and kernel times measured from their answers, in ms. */
class Questions {
  #open = new Map(); // key: {time, ahead, whole, cost, alone}
  #left = ONE_TOUCH; // what this touch may still prefetch
  #touched = -Infinity;
  #trip = 0;
  #took;

  /** @param {number} took  an initial estimate of the kernel time of a state */
  constructor(took) { this.#took = took || 20; }
  has(key) { return this.#open.has(key) && isFresh(this.#open.get(key)); }

  touch() {
    if (performance.now() - this.#touched > SAME_TOUCH) this.#left = ONE_TOUCH;
    this.#touched = performance.now();
  }

  /** Whether one more may be sent. Overdue requests block prefetching, but not a reader who waits. */
  room(ahead) {
    const fresh = [...this.#open.values()].filter(isFresh);
    if (ahead && (fresh.length < this.#open.size || this.#left < this.#took)) return false;
    return mayAsk(fresh, this.#trip, this.#took, ahead);
  }

  asked(key, ahead, whole) {
    const alone = this.#open.size === 0;
    this.#open.set(key, { time: performance.now(), ahead, whole, cost: this.#took, alone });
    if (ahead) this.#left -= this.#took;
  }

  /** Handle an answer, requested or not. Returns the request. */
  answered(key, took) {
    const question = this.#open.get(key);
    this.#open.delete(key);
    for (const [other, lost] of this.#open) if (!isFresh(lost)) this.#open.delete(other); // the kernel answers again
    if (!question || !(took >= 0)) return question;
    if (question.ahead) this.#left += question.cost - took;
    if (question.alone) this.#trip = Math.max(0, performance.now() - question.time - took);
    this.#took = Math.max(1, 0.7 * this.#took + 0.3 * took);
    return question;
  }
}

const isFresh = ({ time }) => performance.now() - time < OVERDUE;

// ---- The player -----------------------------------------------------------------------------------------------------
/** The state of one panel, shared by all its views in the page. */
export class Player {
  views = new Set();
  store = new Store();
  shown = null; // the state in the picture
  playing = -1; // the slider that plays
  guessed = null; // the chosen option or number, -1 if skipped, null if not answered yet
  gone = false; // whether the reader waits and no answer comes
  lost = false; // whether the front end reports that the kernel lost the panel
  narrow = false; // whether the page has no room for the wide arrangement
  untouched = true; // whether the reader has not moved anything yet
  note = "";
  heard = null; // called with a guess if there is no kernel
  wentTo = null; // called with each state that the reader moves to if there is no kernel
  #hand = -1; // the control touched last
  #way = 0; // the direction in which it last moved
  #silent = new Set(); // keys of states whose prefetch failed
  #error = null; // {key, line} of a state that failed while the reader waited
  #overdue; // timers
  #tick;

  /** @param {Spec} spec @param {Link?} link  null without a kernel @param {Packet?} first */
  constructor(spec, at, link, first) {
    this.spec = spec;
    this.at = isPlace(at, spec.controls) ? [...at] : spec.controls.map((control) => control.at);
    this.link = link;
    this.questions = new Questions(first?.took);
    this.narrow = first?.narrow === true;
    this.receive(first);
  }

  get key() { return keyOf(this.at, this.narrow); }
  get failed() { return this.#error?.key === this.key; }
  get waiting() { return !this.failed && this.shown?.key !== this.key; }
  get line() { return this.failed ? this.#error.line : (this.shown?.line ?? ""); }
  /** Whether the controls are locked until the reader answers the question. */
  get locked() { return Boolean(this.spec.guess) && this.guessed === null; }

  /** The reader holds a control: prefetch the states around it. */
  touch(control) {
    if (!this.#stopped()) return;
    this.#hold(control);
    this.ask();
  }
  move(control, place, byKey = false) { if (this.#stopped()) this.#set(control, place, byKey); }
  reset() { if (this.#stopped()) this.#go(this.spec.controls.map((control) => control.at)); }

  /** Use the arrangement for narrow pages, if there is one, while a view is narrow. Without a kernel, the page that
   *  loaded the states has chosen. */
  arrange() {
    const narrow = Boolean(this.spec.narrow) && [...this.views].some((view) => view.narrow);
    if (!this.link || this.lost || narrow === this.narrow) return;
    this.narrow = narrow;
    this.#update();
  }

  guess(choice) {
    this.answered(choice);
    this.link?.guessed(choice);
    this.heard?.(choice);
  }

  /** Record a guess made here, in another view, or by code. */
  answered(choice) {
    this.guessed = choice ?? null;
    this.#show();
  }

  /** Play a slider back and forth until something is touched; once and in few steps with reduced motion; -1: stop. */
  play(control) {
    clearTimeout(this.#tick);
    const was = this.playing;
    this.playing = control;
    if (control !== was) this.#show();
    if (control < 0) return;
    const [from, begun, { last }] = [this.at[control], performance.now(), this.spec.controls[control]];
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = () => {
      const elapsed = performance.now() - begun;
      if (document.hidden || !this.views.size || (calm && elapsed > 2 * PLAY)) return this.play(-1);
      this.#set(control, playedTo(from, elapsed, last));
      this.#tick = setTimeout(step, calm ? 500 : Math.max(30, PLAY / last / 2));
    };
    this.#tick = setTimeout(step);
  }

  #elsewhere(at) { return isPlace(at, this.spec.controls) && keyOf(at) !== keyOf(this.at); }

  /** Stop playing on any touch; false if the controls are locked. */
  #stopped() {
    this.play(-1);
    return !this.locked;
  }

  #hold(control) {
    this.untouched = false;
    this.questions.touch();
    if (this.#hand !== control) [this.#hand, this.#way] = [control, 0];
    shared().inHand = this;
  }

  #set(control, place, byKey) {
    this.#hold(control);
    this.#way = Math.sign(place - this.at[control]) || this.#way;
    this.#go(replaced(this.at, control, place), byKey);
  }

  #go(at, byKey) {
    if (!this.#elsewhere(at)) return;
    this.#error = null;
    this.note = "";
    this.at = this.link ? at : this.#stored(at, byKey);
    this.#update(); // and request it first: the reader waits for it
    this.link?.moved(this.at);
    this.wentTo?.(this.at);
  }

  /** The stored state to show without a kernel: the control in use keeps its place, or nearly; the others follow. A
   *  key moves on to the next stored state in its direction. */
  #stored(at, byKey) {
    if (this.store.states.has(keyOf(at, this.narrow))) return at;
    const slides = this.spec.controls[this.#hand]?.kind === "slider";
    const all = [...this.store.states.values()];
    const near = (some) => this.#nearest(some, at, slides ? IN_HAND : 1000, 1)?.at;
    const beyond = ({ at: there }) => Math.sign(there[this.#hand] - this.at[this.#hand]) === this.#way;
    const goal = (byKey && near(all.filter(beyond))) || near(all);
    const moved = this.spec.controls.filter((_, i) => i !== this.#hand && goal[i] !== at[i]);
    const named = moved.map((control) => control.label).join(", ");
    this.note = named && this.spec.words.nearest.replace("{controls}", named);
    return goal;
  }

  /** The kernel has restarted or the connection is lost. */
  lose() {
    this.lost = true;
    this.#show();
  }

  /** Follow a move made by code. */
  follow(at) {
    if (!this.#elsewhere(at)) return;
    this.play(-1);
    this.at = [...at];
    this.#update();
  }

  /** Handle a message; ignore anything that is not a packet of this panel. @param {Packet} packet */
  receive(packet) {
    if (!isPacket(packet, this.spec.controls)) return;
    const key = keyOf(packet.at, packet.narrow === true);
    const question = this.questions.answered(key, packet.took);
    if (!packet.failed && this.store.take(packet)) {
      this.#silent.delete(key);
      if (this.#error?.key === key) this.#error = null;
    } else if (!packet.failed && !question?.whole && this.link) {
      this.#question(packet.at, packet.ahead === true, true, packet.narrow === true);
    } else if (packet.ahead) {
      this.#silent.add(key);
    } else {
      this.#error = { key, line: packet.failed ? packet.line : this.spec.words.failed };
    }
    const silence = this.gone || this.lost; // which the page still shows
    this.gone = this.lost = false;
    this.#watch(true);
    if (this.waiting || silence || key === this.key) this.#update();
    else this.ask();
  }

  /** Show the current state, or until it arrives the nearest one, in which the control in use may differ. */
  #update() {
    if (!this.failed) {
      const known = this.store.states;
      const alike = () => [...known.values()].filter(({ narrow }) => narrow === this.narrow);
      const last = this.shown?.narrow === this.narrow ? this.shown : null;
      this.shown = known.get(this.key) ?? this.#nearest(alike(), this.at, 1, 1000, last) ?? this.shown;
      if (this.shown) this.store.look(this.shown);
    }
    this.#show();
    this.ask();
  }

  #nearest(states, at, inHand, others, best) {
    const weights = at.map((_, i) => (i === this.#hand ? inHand : others));
    return nearest(states, at, this.spec.controls, weights, best);
  }

  #show() { this.views.forEach((view) => view.show()); }

  /** Request the state that the reader waits for, otherwise prefetch. */
  ask() {
    this.#watch();
    if (!this.link || !this.views.size) return;
    if (this.waiting) {
      if (!this.questions.has(this.key) && this.questions.room(false)) this.#question(this.at, false, false);
      return;
    }
    if (!this.spec.ahead || this.#hand < 0 || shared().inHand !== this || document.hidden) return;
    const last = lastOf(this.spec.controls[this.#hand]);
    for (const stop of stopsAround(this.at[this.#hand], last, this.#way)) {
      if (!this.questions.room(true)) return;
      const at = replaced(this.at, this.#hand, stop);
      const key = keyOf(at, this.narrow);
      const idle = this.store.states.has(key) || this.questions.has(key) || this.#silent.has(key);
      if (!idle) this.#question(at, true, false);
    }
  }

  #question(at, ahead, whole, narrow = this.narrow) {
    this.questions.asked(keyOf(at, narrow), ahead, whole);
    this.link.ask(at, narrow, ahead, whole);
  }

  /** While the reader waits, watch for an overdue answer; `again`: restart the timer. */
  #watch(again = false) {
    const waits = this.waiting && this.link && this.views.size;
    if (again || !waits) this.#overdue = clearTimeout(this.#overdue);
    if (waits) this.#overdue ??= setTimeout(this.#late, OVERDUE);
  }

  #late = () => { this.gone = true; this.#show(); };

  enter(view) {
    this.views.add(view);
    view.show();
    this.ask();
  }

  leave(view) {
    this.views.delete(view);
    if (!this.views.size) this.play(-1);
    this.#watch();
  }

  /** Release everything. */
  close() {
    for (const view of [...this.views]) view.close();
    this.store.forget([...this.store.states.values()]);
    if (shared().inHand === this) shared().inHand = null;
  }
}

// ---- The picture ----------------------------------------------------------------------------------------------------
/** The strokes of a state as SVG. Changing the state updates only strokes that differ. The size is that of its
 *  arrangement: full width, or narrower on a narrow page; a wide one scrolls where text would become too small to read. */
class Picture {
  slots = []; // one group for each moving artist
  #defined = new Map(); // number: clip path or hatch
  #numbers = new WeakMap(); // the stroke that each element draws
  #state = null;
  #narrow;

  /** @param {Spec} spec @param {Map<number, Array>} records @param {string} prefix  of its ids */
  constructor(spec, records, prefix) {
    Object.assign(this, { spec, records, prefix });
    this.defs = svg("defs");
    this.layer = svg("g", { role: "img" });
    this.handles = svg("g", { class: "blocklab-handles" });
    this.root = svg("svg", {}, this.defs, this.layer, this.handles);
    this.#resize(false);
  }

  /** Tenths of a picture pixel per page pixel. */
  get scale() { return (10 * this.size[0]) / this.root.getBoundingClientRect().width; }

  /** Convert a box or a point from page to picture coordinates. */
  boxOf({ x, y, width, height }) {
    const { scale } = this;
    const frame = this.root.getBoundingClientRect();
    return new DOMRect((x - frame.x) * scale, (y - frame.y) * scale, width * scale, height * scale);
  }

  /** @param {Packet} state */
  show(state) {
    if (state === this.#state) return;
    if (state.narrow !== this.#narrow) this.#resize(state.narrow);
    if (state.rest !== this.#state?.rest) {
      this.#lay(this.layer, this.records.get(state.rest)[1]);
      this.slots = [...this.layer.children].filter((node) => this.#numbers.get(node) === 0);
    }
    this.slots.forEach((slot, i) => this.#lay(slot, state.moving[i] ?? []));
    this.#state = state;
    if (this.#defined.size > 100) this.#forget(state);
  }

  #resize(narrow) {
    this.#narrow = narrow;
    this.size = narrow ? this.spec.narrow : this.spec.size; // in CSS px
    const [width, height] = this.size;
    const least = narrow ? 0 : Math.ceil((width * SMALLEST_LETTER) / (this.spec.smallest || SMALLEST_LETTER));
    const most = narrow ? NARROW : Math.max(width, least);
    filled(this.root, { viewBox: `0 0 ${10 * width} ${10 * height}`, style: `min-width:${least}px;max-width:${most}px` });
  }

  /** Make the children of `parent` these strokes in this order, 0 being a slot; reuse existing elements. */
  #lay(parent, numbers) {
    const existing = new Map(numbers.map((number) => [number, []])); // its elements, in order
    for (const node of [...parent.children]) existing.get(this.#numbers.get(node))?.push(node) ?? node.remove();
    let place = parent.firstChild;
    for (const number of numbers) {
      const node = existing.get(number).shift() ?? this.#draw(number);
      this.#numbers.set(node, number);
      if (node === place) place = place.nextSibling;
      else parent.insertBefore(node, place);
    }
    for (const spare of existing.values()) spare.forEach((node) => node.remove());
  }

  /** Create the element for a stroke or a slot. */
  #draw(number) {
    const record = this.records.get(number) ?? [];
    const [kind] = record;
    if (kind === "path") {
      const [, style, clip, d, hatch] = record;
      const [css, outer] = [this.#css(style), { "clip-path": this.#clip(clip) }];
      if (!hatch) return svg("path", { d, style: css, ...outer });
      const face = svg("path", { d, style: `${css};stroke:none` });
      const edge = svg("path", { d, style: `${css};fill:none` });
      return svg("g", outer, face, svg("path", { d, fill: this.#url(hatch) }), edge);
    }
    if (kind === "marks") {
      const [, style, clip, d, places] = record;
      const group = svg("g", { style: this.#css(style), "clip-path": this.#clip(clip) });
      for (let i = 0; i < places.length; i += 2) group.append(svg("path", { d: `M${places[i]} ${places[i + 1]}${d}` }));
      return group;
    }
    if (kind === "text") {
      const [, style, clip, transform, glyphs, says] = record;
      const outlined = (glyph, i) => `M${glyphs[i + 1]} ${glyphs[i + 2]}${this.records.get(glyph)[1]}`;
      const d = glyphs.map((glyph, i) => (i % 3 ? "" : outlined(glyph, i))).join("");
      const word = svg("path", { d, transform, style: this.#css(style), "data-says": says || null });
      return clip ? svg("g", { "clip-path": this.#clip(clip) }, word) : word; // else its transform moves the clip
    }
    if (kind === "image") {
      const [, clip, x, y, width, height, smooth, href] = record;
      const look = { preserveAspectRatio: "none", style: smooth ? "" : "image-rendering:pixelated" };
      return svg("image", { x, y, width, height, href, ...look, "clip-path": this.#clip(clip) });
    }
    if (kind === "tint") {
      const [, style, clip, x, y, width, height, smooth, href] = record;
      const [id, place] = [`${this.prefix}${number}`, { x, y, width, height }];
      const look = { preserveAspectRatio: "none", style: smooth ? "" : "image-rendering:pixelated" };
      const mask = svg("mask", { id }, svg("image", { ...place, href, ...look }));
      const face = svg("rect", { ...place, style: this.#css(style), mask: `url(#${id})` });
      return svg("g", { "clip-path": this.#clip(clip) }, mask, face);
    }
    return svg("g"); // a slot, or an unknown kind, which draws nothing
  }

  #css(style) { return this.records.get(style)[1]; }
  #clip(clip) { return clip ? this.#url(clip) : null; }

  /** The URL of a clip or a hatch, defined on first use. */
  #url(number) {
    const id = `${this.prefix}${number}`;
    if (!this.#defined.has(number)) {
      const [kind, ...about] = this.records.get(number);
      const node = kind === "hatch" ? this.#pattern(id, ...about) : svg("clipPath", { id }, outline(...about));
      this.#defined.set(number, node);
      this.defs.append(node);
    }
    return `url(#${id})`;
  }

  #pattern(id, d, side, style) {
    const tile = { id, width: side, height: side, y: 10 * this.size[1], patternUnits: "userSpaceOnUse" };
    return svg("pattern", tile, svg("path", { d, style }));
  }

  /** Drop unused clips and hatches. */
  #forget({ rest, moving }) {
    const strokes = [...namedBy(this.records.get(rest)), ...moving.flat()];
    const used = new Set(strokes.flatMap((stroke) => namedBy(this.records.get(stroke))));
    for (const number of [...this.#defined.keys()].filter((each) => !used.has(each))) {
      this.#defined.get(number).remove();
      this.#defined.delete(number);
    }
  }
}

const outline = (x, y, width, height) =>
  y === undefined ? svg("path", { d: x }) : svg("rect", { x, y, width, height });

// ---- One view in the page -------------------------------------------------------------------------------------------
/** A keyboard handle over something touchable in the picture: a slider over these stops of a control. */
function knob(player, index, kind, stops) {
  const { label, ...control } = player.spec.controls[index];
  const limits = { "aria-label": label, "aria-valuemin": 0, "aria-valuemax": lastOf(control) };
  const node = svg("rect", { class: `blocklab-${kind}`, role: "slider", tabindex: 0, ...limits });
  const move = (stop) => player.move(index, stops()[stop], true);
  onArrows(node, () => stops().indexOf(player.at[index]), () => stops().length - 1, move);
  const show = (box) => {
    const here = player.at[index];
    const said = { "aria-valuenow": here, "aria-valuetext": saidAt(control, here) };
    filled(node, { ...box, ...said, "aria-disabled": player.locked });
    node.style.display = box ? "" : "none";
  };
  return { node, show };
}

/** JupyterLab and Notebook handle keys before a panel does, unless the focused element has this attribute. Returns what
 *  undoes it. */
function keepKeys(root) {
  const keep = (event) =>
    root.contains(event.target) && event.target.toggleAttribute("data-lm-suppress-shortcuts", isPlain(event));
  const gone = new AbortController();
  window.addEventListener("keydown", keep, { capture: true, signal: gone.signal });
  root.addEventListener("keydown", (event) => isPlain(event) && event.stopPropagation());
  return gone;
}

const langOf = ({ language }) => (language === "zh" ? "zh-CN" : "en");

/** Add a view of a question without a picture to an element. */
function viewOfQuestion(player, element) {
  const { node, show, told } = question(player, () => told.focus()); // the buttons are disabled then
  const root = filled(div("panel", node), { lang: langOf(player.spec) });
  root.classList.add("blocklab-alone");
  element.append(root);
  const gone = keepKeys(root);
  const close = () => (player.leave(shown), gone.abort(), root.remove());
  const shown = { show, close };
  player.enter(shown);
  return shown;
}

/** Add a view of a player to an element. @param {Player} player @param {HTMLElement} element */
function view(player, element) {
  const { spec } = player;
  if (!spec.size) return viewOfQuestion(player, element);
  const { words } = spec;
  const prefix = `blocklab-${shared().ids++}-`;
  const picture = new Picture(spec, player.store.records, prefix);
  const handles = handlesOf(player, picture, (...about) => knob(player, ...about));
  const parts = spec.controls.map((control, i) => KINDS[control.kind](player, i, prefix + control.name));
  const nodes = parts.map(({ node }) => node);
  const bar = html("fieldset", { class: "blocklab-bar" }, ...nodes);
  const more = html("details", { class: "blocklab-more" }, html("summary", {}, words.more));
  const box = div("picture", picture.root);
  const line = filled(div("line"), { role: "status" });
  const lock = spec.guess ? div("lock", padlock(), words.guess_first) : "";
  const note = filled(div("note"), { "aria-live": "polite" });
  const unanswered = div("unanswered", words.run);
  const root = filled(div("panel", box, line, lock, bar, note, unanswered), { lang: langOf(spec) });
  element.append(root);
  const resetButton = reset(player);
  if (spec.guess) {
    const focus = (told) => nodes[controlNamed(told, spec.controls)]?.querySelector("input, button, select")?.focus();
    parts.push(question(player, focus)); // the buttons of the question are disabled then
    root.prepend(parts.at(-1).node);
  }
  const fold = () => {
    const spare = shown.narrow ? nodes.slice(IN_SIGHT) : [];
    more.append(...spare);
    bar.replaceChildren(...nodes.filter((node) => !spare.includes(node)), ...(spare.length ? [more] : []));
    if (nodes.length) bar.append(resetButton);
  };
  const resized = new ResizeObserver(() => {
    const narrow = root.offsetWidth < NARROW;
    if (shown.narrow !== narrow && root.offsetWidth) { // 0: in a hidden tab
      shown.narrow = narrow;
      root.classList.toggle("blocklab-narrow", narrow);
      fold();
      player.arrange();
    }
    const scrolls = box.scrollWidth > box.clientWidth + 1; // then it must be focusable
    for (const name of ["role", "tabindex", "aria-label"]) box.removeAttribute(name);
    if (scrolls) filled(box, { role: "group", tabindex: 0, "aria-label": words.picture });
    handles.show();
  });
  resized.observe(box);
  const gone = keepKeys(root);
  document.addEventListener("visibilitychange", () => player.ask(), { signal: gone.signal });

  const shown = {
    narrow: null,
    show() {
      if (player.shown) picture.show(player.shown);
      picture.layer.setAttribute("aria-label", player.line);
      bar.disabled = bar.hidden = player.locked;
      if (lock) lock.hidden = !player.locked;
      for (const part of [handles, ...parts]) part.show();
      root.classList.toggle("blocklab-waiting", player.waiting);
      root.classList.toggle("blocklab-untouched", player.untouched && !player.locked);
      root.classList.toggle("blocklab-failed", player.failed);
      line.setAttribute("aria-live", player.playing < 0 ? "polite" : "off");
      setText(line, player.line);
      setText(note, player.gone ? words.gone : player.note);
      unanswered.hidden = !player.lost;
    },
    close() {
      player.leave(shown);
      resized.disconnect();
      gone.abort();
      root.remove();
    },
  };
  player.enter(shown);
  return shown;
}

// ---- Entry points ---------------------------------------------------------------------------------------------------
const players = new WeakMap(); // by `spec`, because each view gets its own model object

/** anywidget: called once per model. */
function initialize({ model }) {
  const link = {
    ask: (at, narrow, ahead, whole) => model.send({ kind: "ask", at, narrow, ahead, whole }),
    guessed: (choice) => (model.set("guessed", choice), model.save_changes()),
    moved: (at) => (model.set("at", at), model.save_changes()),
  };
  const player = new Player(model.get("spec"), model.get("at"), link, model.get("first"));
  player.answered(model.get("guessed"));
  players.set(player.spec, player);
  const heard = {
    "change:at": () => player.follow(model.get("at")),
    "change:guessed": () => player.answered(model.get("guessed")),
    comm_live_update: () => player.lose(),
    "msg:custom": (message) => player.receive(message),
  };
  for (const [event, hear] of Object.entries(heard)) model.on(event, hear);
  return () => {
    for (const [event, hear] of Object.entries(heard)) model.off(event, hear);
    player.close();
  };
}

/** anywidget: called once per view. Returns a function that removes it. */
const render = ({ model, el }) => view(players.get(model.get("spec")), el).close;

/** Show a panel from stored states, without a kernel. Returns a function that removes it. @param {HTMLElement} element
 *  @param {{spec: Spec, states: Packet[], records: Object<string, Array>}} stored
 *  @param {{guessed?: number|string, onGuess?: (choice: number|string, right: boolean?) => void, at?: number[],
 *    onMove?: (at: number[]) => void}} earlier  the choice of an earlier visit, -1 if skipped, and a callback for a new
 *    choice; right is null if it was skipped. Likewise where to begin, and a callback for each move */
export function frozen(element, { spec, states, records }, { guessed, onGuess, at, onMove } = {}) {
  const start = isPlace(at, spec.controls) ? at : spec.controls.map((control) => control.at);
  const opening = nearest(states, start, spec.controls, start.map(() => 1));
  const player = new Player(spec, opening.at, null);
  player.narrow = opening.narrow === true;
  player.wentTo = onMove;
  if (spec.guess && isGuess(spec.guess, guessed)) player.answered(guessed);
  player.heard = (choice) => onGuess?.(choice, isRight(spec.guess, choice));
  states.forEach((state, i) => player.store.take({ ...state, new: i ? {} : records }));
  player.receive({ kind: "state", ...opening });
  view(player, element);
  return () => player.close();
}

export default { initialize, render };
