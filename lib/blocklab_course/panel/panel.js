/**
 * The browser side of a panel: its controls, a picture made of strokes, and the line that says what is seen.
 *
 * A state of a panel is a list of numbers, `at`: the stop of each slider, the option of each choice (-1: none), 0 or 1
 * of each toggle. The kernel answers a question about a state with a packet; the player keeps it, draws it, and asks
 * ahead of the reader's hand. The same player shows stored states in a page without a kernel: `frozen`.
 *
 * @typedef {{at: number[], line: string, rest?: number, moving?: number[][], handles?: number,
 *            new?: Object<string, Array>, failed?: boolean, took?: number, ahead?: boolean}} Packet
 * @typedef {{kind: "slider"|"choice"|"toggle", name: string, label: string, at: number, start?: number, step?: number,
 *            last?: number, log?: boolean, whole?: boolean, options?: string[]}} Control
 * @typedef {{size: number[], language: string, ahead: boolean, smallest: number, controls: Control[],
 *            guess: {label: string, options: string[], right: number, told: string[], skipped: string}?,
 *            words: Object<string, string>}} Spec
 * @typedef {{ask: (at: number[], ahead: boolean, whole: boolean) => void, moved: (at: number[]) => void,
 *            guessed: (choice: number) => void}} Link  the way to the kernel
 */

// A page gets one text: Python puts the file itself in the place of this line.
import { handlesOf } from "./touch.js";

// ---- Bounds ---------------------------------------------------------------------------------------------------------
const MOST_KEPT = 32e6; // characters of states and records, over all panels of the document
const UNANSWERED = 200; // ms of kernel time in questions that are not answered yet, so that the next cell need not wait
const ONE_TOUCH = 2000; // ms of kernel time that one touch asks ahead
const SAME_TOUCH = 1000; // ms: moves closer than this belong to one touch
const OVERDUE = 10_000; // ms without an answer
const PLAY = 3000; // ms from the first stop to the last
const SMALLEST_LETTER = 9; // px
const IN_HAND = 4; // without a kernel: how many times more the place of the slider in hand counts than the others'
const MOST_BUTTONS = 46; // em: a choice that needs more room becomes a list

// ---- Controls as numbers --------------------------------------------------------------------------------------------
/** The last place of a control; the first is 0. @param {Control} control */
export const lastOf = ({ kind, last, options }) => ({ slider: last, choice: options?.length - 1, toggle: 1 })[kind];

/** The value of a slider's stop, free of the dust of float arithmetic. @param {Control} slider @param {number} stop */
export function valueAt(slider, stop) {
  const value = slider.log ? slider.start * slider.step ** stop : slider.start + slider.step * stop;
  return slider.whole ? Math.trunc(value) : Number(value.toPrecision(12));
}

/** The stop nearest to a number; one out of range goes to the end. @param {Control} slider @param {number} number */
export function nearestStop(slider, number) {
  const low = valueAt(slider, 0);
  const inside = Math.min(Math.max(number, low), valueAt(slider, slider.last));
  const steps = slider.log ? Math.log(inside / slider.start) / Math.log(slider.step) : (inside - low) / slider.step;
  return clamp(Math.round(steps), slider.last);
}

/** What a control says at a place: a number, an option, or nothing. @param {Control} control @returns {string} */
const saidAt = (control, at) => {
  if (control.kind !== "slider") return control.options?.[at] ?? "";
  const value = valueAt(control, at); // stops that lie a factor apart need few digits
  return String(control.log && !control.whole ? Number(value.toPrecision(4)) : value);
};

/** Where a key leads from a stop, or null for a key that moves nothing. @param {string} key @returns {number?} */
export function keyStop(key, stop, last) {
  const page = Math.max(1, Math.round(last / 10));
  const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: page, PageDown: -page };
  return key in by ? clamp(stop + by[key], last) : ({ Home: 0, End: last }[key] ?? null);
}

/** Where playing has come to so many ms after it began at `stop`: up to the last stop, back to the first, and again. */
export function playedTo(stop, elapsed, last) {
  const way = (stop + (elapsed / PLAY) * last) % (2 * last);
  return Math.round(way <= last ? way : 2 * last - way);
}

/** Whether a list of numbers is a state of these controls. @param {number[]} at @param {Control[]} controls */
export function isPlace(at, controls) {
  const none = (place, { kind }) => place === -1 && kind === "choice";
  const inside = (place, i) => none(place, controls[i]) || clamp(place, lastOf(controls[i])) === place;
  return Array.isArray(at) && at.length === controls.length && at.every(Number.isInteger) && at.every(inside);
}

/** Whether a message is a packet of this panel. @param {Control[]} controls */
export function isPacket(message, controls) {
  if (message?.kind !== "state" || typeof message.line !== "string" || !isPlace(message.at, controls)) return false;
  const { failed, rest, moving } = message;
  return failed === true || (Number.isInteger(rest) && Array.isArray(moving) && moving.every(Array.isArray));
}

const clamp = (number, last) => Math.min(Math.max(number, 0), last);
const keyOf = (at) => at.join();
const replaced = (at, index, place) => at.map((old, i) => (i === index ? place : old));

// ---- What is near, and what to ask next -----------------------------------------------------------------------------
/** The state nearest to a place; `best` stays unless another is nearer. A gap counts as a share of its slider; options
 *  differ or not. @param {Iterable<Packet>} states @param {number[]} weights of the controls */
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

/** All other stops, near ones first: three in the direction of the movement for each one behind. */
export function* stopsAround(stop, last, way) {
  const [step, share] = [way < 0 ? -1 : 1, way ? 3 : 1];
  for (let turn = 0; turn < last; turn++) {
    const fore = Array.from({ length: share }, (_, i) => stop + step * (share * turn + i + 1));
    yield* [...fore, stop - step * (turn + 1)].filter((place) => place >= 0 && place <= last);
  }
}

/** Whether one more question may be asked: one that the reader waits for always, more as many as fill the line, within
 *  UNANSWERED. Times in ms. @param {{ahead: boolean, cost: number}[]} underWay @param {number} took */
export function mayAsk(underWay, trip, took, ahead) {
  if (!ahead && underWay.every((question) => question.ahead)) return true;
  const cost = underWay.reduce((sum, question) => sum + question.cost, took);
  return underWay.length < Math.ceil(trip / took) + 1 && cost <= UNANSWERED;
}

// ---- What is kept ---------------------------------------------------------------------------------------------------
/** What the panels of a document share, though each may load this file anew. */
const shared = () => (globalThis[Symbol.for("blocklab")] ??= { ids: 0, size: 0, kept: new Set(), inHand: null });
const sizeOf = (what) => JSON.stringify(what).length;

/** The records that a record names. @param {Array} record @returns {number[]} */
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

/** The records that a state names. @param {Packet} state */
const numbersOf = ({ rest, moving, handles }) => [rest, handles, ...moving.flat()].filter(Boolean);

/** The states of one panel and the records that they are made of; the oldest of all panels make room for new ones. */
export class Store {
  states = new Map(); // key: {store, key, at, line, rest, moving, size}
  records = new Map(); // number: record
  present = null; // the state that is to stay
  #complete = new Set(); // numbers known to be here with all that they name

  /** Keep a packet. False if it names records that are not here. @param {Packet} packet */
  take({ at, line, rest, moving, handles = 0, new: fresh = {} }) {
    for (const [number, record] of Object.entries(fresh)) {
      if (!Array.isArray(record) || this.records.has(Number(number))) continue;
      this.records.set(Number(number), record);
      shared().size += sizeOf(record);
    }
    if (!this.#reach(numbersOf({ rest, moving, handles }), this.#complete)) {
      this.#complete.clear();
      return false;
    }
    const key = keyOf(at);
    const state = { store: this, key, at, line, rest, moving, handles, size: 100 + line.length + sizeOf(moving) };
    this.#drop(this.states.get(key));
    this.states.set(key, state);
    shared().kept.add(state);
    shared().size += state.size;
    makeRoom();
    return true;
  }

  /** A state is looked at: it stays, and is not old any more. */
  look(state) {
    this.present = state;
    shared().kept.delete(state);
    shared().kept.add(state);
  }

  /** Let go of these states, and of records that no other one needs. */
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

  /** Add these numbers and all that they name to those found before; false if a record is not here. */
  #reach(numbers, found) {
    const fresh = numbers.filter((number) => !found.has(number));
    fresh.forEach((number) => found.add(number));
    return fresh.every((number) => this.records.has(number) && this.#reach(namedBy(this.records.get(number)), found));
  }
}

/** Keep the document within its bound: a quarter of all states goes, the oldest, but none that is being shown. */
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

// ---- Asking ---------------------------------------------------------------------------------------------------------
/** The questions under way, and what their answers taught about the line and the kernel. Times in ms. */
class Questions {
  #open = new Map(); // key: {time, ahead, whole, cost, alone}
  #left = ONE_TOUCH; // what this touch may still ask ahead
  #touched = -Infinity;
  #trip = 0;
  #took;

  /** @param {number} took  a first idea of the kernel time of a state */
  constructor(took) { this.#took = took || 20; }
  has(key) { return this.#open.has(key) && isFresh(this.#open.get(key)); }

  touch() {
    if (performance.now() - this.#touched > SAME_TOUCH) this.#left = ONE_TOUCH;
    this.#touched = performance.now();
  }

  /** Whether one more fits. What is overdue hinders asking ahead, but no longer a reader who waits. */
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

  /** An answer came, asked for or not. Returns the question. */
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
/** Where one panel stands, whatever number of views it has in the page. */
export class Player {
  views = new Set();
  store = new Store();
  shown = null; // the state in the picture
  playing = -1; // the slider that plays
  guessed = null; // the option chosen, -1 if skipped; null while the question is open
  gone = false; // whether the reader waits and nothing comes
  lost = false; // whether the front end says that the kernel has forgotten the panel
  note = "";
  heard = null; // who is told of a guess where no kernel is
  #hand = -1; // the control touched last
  #way = 0; // the direction in which it moved
  #silent = new Set(); // keys of states that failed when they were asked ahead
  #excuse = null; // {key, line} of a state that failed when somebody waited for it
  #overdue; // timers
  #tick;

  /** @param {Spec} spec @param {Link?} link  null where no kernel answers @param {Packet?} first */
  constructor(spec, at, link, first) {
    this.spec = spec;
    this.at = isPlace(at, spec.controls) ? [...at] : spec.controls.map((control) => control.at);
    this.link = link;
    this.questions = new Questions(first?.took);
    this.receive(first);
  }

  get key() { return keyOf(this.at); }
  get failed() { return this.#excuse?.key === this.key; }
  get waiting() { return !this.failed && this.shown?.key !== this.key; }
  get line() { return this.failed ? this.#excuse.line : (this.shown?.line ?? ""); }
  /** Whether the panel keeps its opening state until the reader has said what to expect. */
  get locked() { return Boolean(this.spec.guess) && this.guessed === null; }

  /** A control is in hand: what lies around it may be wanted soon. */
  touch(control) {
    if (!this.#stopped()) return;
    this.#hold(control);
    this.ask();
  }
  move(control, place, byKey = false) { if (this.#stopped()) this.#set(control, place, byKey); }
  reset() { if (this.#stopped()) this.#go(this.spec.controls.map((control) => control.at)); }

  guess(choice) {
    this.answered(choice);
    this.link?.guessed(choice);
    this.heard?.(choice);
  }

  /** What was guessed, here or in another view, or told by code. */
  answered(choice) {
    this.guessed = choice ?? null;
    this.#show();
  }

  /** Run a slider through its stops and back until something is touched, calmly in few steps and once; -1: stop. */
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

  #elsewhere(at) { return isPlace(at, this.spec.controls) && keyOf(at) !== this.key; }

  /** Any touch stops what plays; false if nothing may be touched yet. */
  #stopped() {
    this.play(-1);
    return !this.locked;
  }

  #hold(control) {
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
    this.#excuse = null;
    this.note = "";
    this.at = this.link ? at : this.#stored(at, byKey);
    this.#update(); // and ask, because that is what the reader waits for
    this.link?.moved(this.at);
  }

  /** Without a kernel only stored states show: the control in hand keeps its place, or nearly, the others go to the
   *  nearest. A key leads on to the next state in its direction. */
  #stored(at, byKey) {
    if (this.store.states.has(keyOf(at))) return at;
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

  /** The kernel was started anew, or the line to it is cut. */
  lose() {
    this.lost = true;
    this.#show();
  }

  /** Code has moved the panel. */
  follow(at) {
    if (!this.#elsewhere(at)) return;
    this.play(-1);
    this.at = [...at];
    this.#update();
  }

  /** Anything may arrive; what is no packet of this panel is let go. @param {Packet} packet */
  receive(packet) {
    if (!isPacket(packet, this.spec.controls)) return;
    const key = keyOf(packet.at);
    const question = this.questions.answered(key, packet.took);
    if (!packet.failed && this.store.take(packet)) {
      this.#silent.delete(key);
      if (this.#excuse?.key === key) this.#excuse = null;
    } else if (!packet.failed && !question?.whole && this.link) {
      this.#question(packet.at, packet.ahead === true, true);
    } else if (packet.ahead) {
      this.#silent.add(key);
    } else {
      this.#excuse = { key, line: packet.failed ? packet.line : this.spec.words.failed };
    }
    const silence = this.gone || this.lost; // which the page still tells of
    this.gone = this.lost = false;
    this.#watch(true);
    if (this.waiting || silence || key === this.key) this.#update();
    else this.ask();
  }

  /** Show the present state, or while it is not here the nearest one: the control in hand may be elsewhere. */
  #update() {
    if (!this.failed) {
      const known = this.store.states;
      this.shown = known.get(this.key) ?? this.#nearest(known.values(), this.at, 1, 1000, this.shown);
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

  /** Ask for what the reader waits for, else for what may be wanted next. */
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
      const key = keyOf(at);
      const idle = this.store.states.has(key) || this.questions.has(key) || this.#silent.has(key);
      if (!idle) this.#question(at, true, false);
    }
  }

  #question(at, ahead, whole) {
    this.questions.asked(keyOf(at), ahead, whole);
    this.link.ask(at, ahead, whole);
  }

  /** While the reader of a view waits, see to it that something comes; `again`: something has come. */
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

  /** The panel is gone for good: give back what it kept. */
  close() {
    for (const view of [...this.views]) view.close();
    this.store.forget([...this.store.states.values()]);
    if (shared().inHand === this) shared().inHand = null;
  }
}

// ---- The picture ----------------------------------------------------------------------------------------------------
const SVG = "http://www.w3.org/2000/svg";
const svg = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);
const html = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);

/** Give an element these attributes, but for null, and children. */
function filled(node, { style, ...attributes } = {}, children = []) {
  for (const [key, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(key, value);
  if (style) node.style.cssText = style;
  node.append(...children);
  return node;
}

/** The strokes of a state as SVG. Another state touches only the strokes that differ. */
class Picture {
  slots = []; // one group for each moving artist
  #defined = new Map(); // number: clip path or hatch
  #numbers = new WeakMap(); // the stroke that an element draws
  #state = null;

  /** @param {number[]} size  in CSS px @param {Map<number, Array>} records @param {string} prefix  of its ids */
  constructor(size, records, prefix) {
    Object.assign(this, { size, records, prefix });
    this.defs = svg("defs");
    this.layer = svg("g", { role: "img" });
    this.handles = svg("g", { class: "blocklab-handles" });
    this.root = svg("svg", { viewBox: `0 0 ${10 * size[0]} ${10 * size[1]}` }, this.defs, this.layer, this.handles);
  }

  /** Tenths of a pixel of the picture in one of the page. */
  get scale() { return (10 * this.size[0]) / this.root.getBoundingClientRect().width; }

  /** A box or a point of the page in the picture. */
  boxOf({ x, y, width, height }) {
    const { scale } = this;
    const frame = this.root.getBoundingClientRect();
    return new DOMRect((x - frame.x) * scale, (y - frame.y) * scale, width * scale, height * scale);
  }

  /** @param {Packet} state */
  show(state) {
    if (state === this.#state) return;
    if (state.rest !== this.#state?.rest) {
      this.#lay(this.layer, this.records.get(state.rest)[1]);
      this.slots = [...this.layer.children].filter((node) => this.#numbers.get(node) === 0);
    }
    this.slots.forEach((slot, i) => this.#lay(slot, state.moving[i] ?? []));
    this.#state = state;
    if (this.#defined.size > 100) this.#forget(state);
  }

  /** Make `parent` hold these strokes in this order, 0 being a slot; those that stand there already stay untouched. */
  #lay(parent, numbers) {
    const standing = new Map(numbers.map((number) => [number, []])); // its elements, in order
    for (const node of [...parent.children]) standing.get(this.#numbers.get(node))?.push(node) ?? node.remove();
    let place = parent.firstChild;
    for (const number of numbers) {
      const node = standing.get(number).shift() ?? this.#draw(number);
      this.#numbers.set(node, number);
      if (node === place) place = place.nextSibling;
      else parent.insertBefore(node, place);
    }
    for (const spare of standing.values()) spare.forEach((node) => node.remove());
  }

  /** A new element for a stroke or a slot. */
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
      return clip ? svg("g", { "clip-path": this.#clip(clip) }, word) : word; // or its transform would move the clip
    }
    if (kind === "image") {
      const [, clip, x, y, width, height, smooth, href] = record;
      const look = { preserveAspectRatio: "none", style: smooth ? "" : "image-rendering:pixelated" };
      return svg("image", { x, y, width, height, href, ...look, "clip-path": this.#clip(clip) });
    }
    return svg("g"); // a slot; a kind that this player does not know draws nothing
  }

  #css(style) { return this.records.get(style)[1]; }
  #clip(clip) { return clip ? this.#url(clip) : null; }

  /** The address of a clip or a hatch, which is defined when it is first needed. */
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

  /** Let go of clips and hatches that the picture has no use for now. */
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

// ---- Controls in the page -------------------------------------------------------------------------------------------
const div = (name, ...children) => html("div", { class: `blocklab-${name}` }, ...children);

function button(text, press, name = null) {
  const node = html("button", { type: "button", class: name && `blocklab-${name}` }, text);
  node.addEventListener("click", press);
  return node;
}

/** Do what a key means: `act(key)` says whether it did; other keys go on. */
function onKey(node, act) {
  node.addEventListener("keydown", (event) => isPlain(event) && act(event.key) && event.preventDefault());
}

/** Give keys that lead to another stop to `move`. */
function onArrows(node, stop, last, move, keys = /./) {
  onKey(node, (key) => {
    const goal = keys.test(key) ? keyStop(key, stop(), last()) : null;
    return goal !== null && (move(goal), true);
  });
}

const isPlain = (event) => !(event.ctrlKey || event.altKey || event.metaKey || event.shiftKey);
const setText = (node, text) => node.textContent === text || (node.textContent = text);

/** A slider. Like each kind of control: what stands in the page, and how it shows where the player is. */
function slider(player, index, id) {
  const { controls, words } = player.spec;
  const control = controls[index];
  const { label, last } = control;
  const here = () => player.at[index];
  const move = (stop) => player.move(index, stop);
  const step = (stop) => player.move(index, stop, true);
  const run = () => player.play(player.playing === index ? -1 : index);
  const range = html("input", { type: "range", id, min: 0, max: last, step: 1 });
  const ends = { min: valueAt(control, 0), max: valueAt(control, last) };
  const box = html("input", { type: "number", step: "any", "aria-label": label, ...ends });
  const play = button("", run, "play");
  const letters = [0, 1, last - 1, last].map((stop) => saidAt(control, stop).length);
  box.style.width = `calc(${Math.max(...letters)}ch + 1.4em)`;
  let typing = false;
  const show = () => {
    range.value = here();
    range.setAttribute("aria-valuetext", saidAt(control, here()));
    if (!typing) box.value = saidAt(control, here());
    play.classList.toggle("blocklab-playing", player.playing === index);
    play.setAttribute("aria-label", `${player.playing === index ? words.pause : words.play}: ${label}`);
  };
  const typed = () => {
    const number = typing ? box.valueAsNumber : NaN;
    typing = false;
    if (!Number.isNaN(number)) move(nearestStop(control, number));
    show();
  };
  range.addEventListener("pointerdown", () => player.touch(index));
  range.addEventListener("input", () => move(Number(range.value)));
  onArrows(range, here, () => last, step);
  onKey(range, (key) => key === " " && (run(), true));
  box.addEventListener("input", () => (typing = true));
  box.addEventListener("change", typed); // Enter, and leaving the box
  // Those to the left and to the right move within the number.
  onArrows(box, here, () => last, (stop) => (typed(), step(stop)), /^(Arrow|Page)(Up|Down)$/);
  return { node: div("control", html("label", { for: id }, label), div("slider", range, box, play)), show };
}

function choice(player, index, id) {
  const { label, options } = player.spec.controls[index];
  const move = (place) => player.move(index, place);
  const width = (letter) => (letter > "\u2e80" ? 1 : 0.56); // em: of a Chinese character, of a Latin letter
  if ([...options.join("")].reduce((sum, letter) => sum + width(letter), 2.8 * options.length) > MOST_BUTTONS) {
    const list = html("select", { id }, html("option", { value: -1, hidden: "" }));
    list.append(...options.map((option, i) => html("option", { value: i }, option)));
    list.addEventListener("change", () => move(Number(list.value)));
    const show = () => (list.value = player.at[index]);
    return { node: div("control", html("label", { for: id }, label), list), show };
  }
  const buttons = options.map((option, i) => button(option, () => move(i)));
  const group = html("div", { class: "blocklab-options", role: "group", "aria-labelledby": id }, ...buttons);
  onArrows(group, () => player.at[index], () => options.length - 1, (place) => (move(place), buttons[place].focus()));
  const show = () => buttons.forEach((each, i) => each.setAttribute("aria-pressed", i === player.at[index]));
  return { node: div("control", html("span", { id }, label), group), show };
}

function toggle(player, index, id) {
  const box = html("input", { type: "checkbox", id });
  box.addEventListener("change", () => player.move(index, Number(box.checked)));
  const node = div("control", div("toggle", box, html("label", { for: id }, player.spec.controls[index].label)));
  return { node, show: () => (box.checked = player.at[index] === 1) };
}

const KINDS = { slider, choice, toggle };

/** What the reader expects, asked before anything moves; then whether it was right, and what is. */
function question(player, answered) {
  const { guess, words } = player.spec;
  const answer = (place) => (player.guess(place), answered());
  const options = guess.options.map((option, i) => button(option, () => answer(i)));
  const skip = button(words.skip, () => answer(-1), "skip");
  const first = div("first", words.guess_first);
  const told = filled(div("told"), { "aria-live": "polite" });
  const node = div("guess", div("asked", guess.label), div("options", ...options, skip), first, told);
  filled(node, { role: "group", "aria-label": guess.label });
  const show = () => {
    const { guessed, locked } = player;
    options.forEach((option, i) => {
      option.disabled = !locked;
      option.setAttribute("aria-pressed", i === guessed);
      option.classList.toggle("blocklab-right", !locked && i === guess.right);
    });
    skip.hidden = first.hidden = !locked;
    setText(told, locked ? "" : (guess.told[guessed] ?? guess.skipped));
  };
  return { node, show };
}

/** What the keyboard moves in the picture, over something to touch: like a slider of these stops of a control. */
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

// ---- One view in the page -------------------------------------------------------------------------------------------
/** Put a view of a player into an element. @param {Player} player @param {HTMLElement} element */
function view(player, element) {
  const { spec } = player;
  const { words } = spec;
  const prefix = `blocklab-${shared().ids++}-`;
  const picture = new Picture(spec.size, player.store.records, prefix);
  const handles = handlesOf(player, picture, (...about) => knob(player, ...about));
  const parts = spec.controls.map((control, i) => KINDS[control.kind](player, i, prefix + control.name));
  const bar = html("fieldset", { class: "blocklab-bar" }, ...parts.map(({ node }) => node));
  const box = div("picture", picture.root);
  const line = filled(div("line"), { role: "status" });
  const note = filled(div("note"), { "aria-live": "polite" });
  const unanswered = div("unanswered", words.run);
  const lang = spec.language === "zh" ? "zh-CN" : "en";
  const root = filled(div("panel", bar, box, line, note, unanswered), { lang });
  element.append(root);
  if (parts.length) bar.append(button(words.reset, () => player.reset(), "reset"));
  if (spec.guess) {
    parts.push(question(player, () => bar.querySelector("input, button, select")?.focus())); // its buttons are done
    root.prepend(parts.at(-1).node);
  }
  // As wide as it was made, narrower where the page is, but with letters that can be read: then it scrolls.
  const least = Math.ceil((spec.size[0] * SMALLEST_LETTER) / (spec.smallest || SMALLEST_LETTER));
  picture.root.style.cssText = `min-width:${least}px;max-width:${Math.max(spec.size[0], least)}px`;
  const resized = new ResizeObserver(() => {
    const scrolls = box.scrollWidth > box.clientWidth + 1; // then the keyboard must reach it
    for (const name of ["role", "tabindex", "aria-label"]) box.removeAttribute(name);
    if (scrolls) filled(box, { role: "group", tabindex: 0, "aria-label": words.picture });
    handles.show();
  });
  resized.observe(box);
  // JupyterLab and Notebook take keys before the panel sees them, unless what has the focus has this attribute.
  const keep = (event) =>
    root.contains(event.target) && event.target.toggleAttribute("data-lm-suppress-shortcuts", isPlain(event));
  const gone = new AbortController();
  window.addEventListener("keydown", keep, { capture: true, signal: gone.signal });
  root.addEventListener("keydown", (event) => isPlain(event) && event.stopPropagation());
  document.addEventListener("visibilitychange", () => player.ask(), { signal: gone.signal });

  const shown = {
    show() {
      if (player.shown) picture.show(player.shown);
      picture.layer.setAttribute("aria-label", player.line);
      bar.disabled = player.locked;
      for (const part of [handles, ...parts]) part.show();
      root.classList.toggle("blocklab-waiting", player.waiting);
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

// ---- Entrances ------------------------------------------------------------------------------------------------------
const players = new WeakMap(); // by `spec`, which a model holds: each of its views is given another model object

/** For anywidget: once for each model. */
function initialize({ model }) {
  const link = {
    ask: (at, ahead, whole) => model.send({ kind: "ask", at, ahead, whole }),
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

/** For anywidget: once for each view. Returns what takes the view away. */
const render = ({ model, el }) => view(players.get(model.get("spec")), el).close;

/** A panel without a kernel, from stored states. Returns what takes it away. @param {HTMLElement} element
 *  @param {{spec: Spec, states: Packet[], records: Object<string, Array>}} stored
 *  @param {{guessed?: number, onGuess?: (choice: number, right: boolean?) => void}} guesses  what the reader chose in an
 *    earlier visit, -1 if skipped; who is told of a choice: right is null for one that was skipped */
export function frozen(element, { spec, states, records }, { guessed, onGuess } = {}) {
  const at = spec.controls.map((control) => control.at);
  const opening = nearest(states, at, spec.controls, at.map(() => 1));
  const player = new Player(spec, opening.at, null);
  if ([-1, ...(spec.guess?.options.keys() ?? [])].includes(guessed)) player.answered(guessed);
  player.heard = (choice) => onGuess?.(choice, choice < 0 ? null : choice === spec.guess.right);
  states.forEach((state, i) => player.store.take({ ...state, new: i ? {} : records }));
  player.receive({ kind: "state", ...opening });
  view(player, element);
  return () => player.close();
}

export default { initialize, render };
