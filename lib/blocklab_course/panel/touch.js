/**
 * Touching the picture of a panel: clicking parts, dragging things along a line, and both by keyboard.
 *
 * A state refers to a record of its handles, a list of
 *
 *     [slot, control, "pick", [place, place, null, …]]             the place that clicking stroke i selects
 *     [slot, control, "drag", [place, place, …], [x, y, x, y, …]]  places, from first to last, and their points
 */

const GRIP = 600; // tenths of px: anything larger both ways gets its handle at its point on the line

/**
 * The place of a line that is nearest to a point; if the line passes it twice, the place nearer to `from`.
 * @param {number[]} places  at some points of the line @param {number[]} points  x, y, x, y, … @param {number} from
 */
export function placeNear(places, points, x, y, from) {
  const found = places.slice(1).map((end, i) => {
    const [left, top, right, low] = points.slice(2 * i, 2 * i + 4);
    const [wide, high] = [right - left, low - top];
    const share = Math.min(1, Math.max(0, ((x - left) * wide + (y - top) * high) / (wide * wide + high * high || 1)));
    const place = Math.round(places[i] + share * (end - places[i]));
    return { place, far: Math.hypot(left + share * wide - x, top + share * high - y) };
  });
  const least = Math.min(...found.map(({ far }) => far));
  const near = found.filter(({ far }) => far < least + 5).map(({ place }) => place);
  return near.reduce((best, place) => (Math.abs(place - from) < Math.abs(best - from) ? place : best));
}

/** The point of a place on a line. @param {number[]} places @param {number[]} points @returns {number[]} x, y */
export function pointAt(places, points, place) {
  const after = places.findIndex((each) => each >= place);
  const [end, start] = [after, Math.max(0, after - 1)];
  const share = end === start ? 0 : (place - places[start]) / (places[end] - places[start]);
  return [0, 1].map((side) => (1 - share) * points[2 * start + side] + share * points[2 * end + side]);
}

/** The index of the box that a finger points at, -1 if none: boxes grow to at least `least` wide and high; the nearest
 *  wins, then the smallest. @param {DOMRect[]} boxes @param {{x: number, y: number}} point */
export function boxMeant(boxes, least, { x, y }) {
  const outside = (low, size, at) => Math.max(low - at, 0, at - low - size);
  const away = (box) => Math.hypot(outside(box.x, box.width, x), outside(box.y, box.height, y));
  const far = boxes.map((box) => (away(wider(box, least)) ? Infinity : away(box) + 1e-9 * box.width * box.height));
  return far.findIndex((each) => each < Infinity && each === Math.min(...far));
}

/** Grow a box to sides of at least `least`. @param {DOMRect} box @param {number} least */
function wider(box, least) {
  const [width, height] = [Math.max(box.width, least), Math.max(box.height, least)];
  return { x: box.x + (box.width - width) / 2, y: box.y + (box.height - height) / 2, width, height };
}

/**
 * The handles of a picture. `knob(control, kind, stops)` creates the focusable element of a handle.
 * @returns {{show: () => void}}
 */
export function handlesOf(player, picture, knob) {
  const layer = picture.handles;
  let number = 0; // the record of the current handles
  let picks = []; // its clickable parts
  let handles = []; // {slot, control, kind, places, points, node, show}: one per drag, one per control
  let held = null; // the current drag: its handle, pointer, and the offset from the pointer to the line
  const reach = () => (matchMedia("(pointer: coarse)").matches ? 44 : 24); // px
  const strokesOf = (slot) => [...(picture.slots[slot]?.children ?? [])];

  /** The clickable strokes, each with its control and place. */
  const parts = () => {
    const all = picks.map(([slot, control, , places]) => strokesOf(slot).map((node, i) => [node, control, places[i]]));
    return all.flat().filter(([, , place]) => Number.isInteger(place));
  };
  /** The part that a pointer points at. */
  const meant = (event) => {
    if (player.locked || layer.contains(event.target)) return undefined; // a drag handle, or the end of a drag
    const all = parts();
    const boxes = () => all.map(([node]) => node.getBoundingClientRect()); // a finger may miss them slightly
    return all.find(([node]) => node.contains(event.target)) ?? all[boxMeant(boxes(), reach(), event)];
  };
  picture.root.addEventListener("pointermove", (event) => (picture.root.style.cursor = meant(event) ? "pointer" : ""));
  picture.root.addEventListener("click", (event) => {
    const [, control, place] = meant(event) ?? [];
    if (control !== undefined) player.move(control, place);
  });

  const grab = (event, handle) => {
    if (player.locked || event.button > 0 || !event.isPrimary) return;
    event.preventDefault();
    handle.node.focus({ preventScroll: true });
    layer.setPointerCapture(event.pointerId); // by the layer, because a handle may disappear during a drag
    layer.classList.add("blocklab-held");
    player.touch(handle.control);
    const { x, y } = picture.boxOf(event);
    const [left, top] = pointAt(handle.places, handle.points, player.at[handle.control]);
    held = { handle, pointer: event.pointerId, aside: left - x, above: top - y }; // so that nothing jumps
  };
  layer.addEventListener("pointermove", (event) => {
    if (event.pointerId !== held?.pointer) return;
    const { handle: { control, places, points }, aside, above } = held;
    const { x, y } = picture.boxOf(event);
    player.move(control, placeNear(places, points, x + aside, y + above, player.at[control]));
  });
  layer.addEventListener("lostpointercapture", (event) => {
    if (event.target !== layer || event.pointerId !== held?.pointer) return;
    layer.classList.remove("blocklab-held");
    held = null;
  });

  const made = (slot, control, kind) => {
    const handle = { slot, control, kind };
    const upTo = (last) => Array.from({ length: last + 1 }, (_, place) => place);
    const stops = () => (kind === "pick" ? handle.places : upTo(handle.places.at(-1)));
    Object.assign(handle, knob(control, kind, stops));
    handle.node.addEventListener("pointerdown", (event) => grab(event, handle));
    layer.append(handle.node);
    return handle;
  };
  /** All parts of a control share one keyboard handle; there is none if they select only one place. */
  const renew = (records) => {
    const drags = records.filter(([, , kind]) => kind === "drag");
    picks = records.filter(([, , kind]) => kind === "pick");
    const led = (index) => picks.flatMap(([, control, , places]) => (control === index ? places : []));
    const stops = (index) => [...new Set(led(index))].filter(Number.isInteger).sort((one, other) => one - other);
    const joined = player.spec.controls.map((_, index) => [null, index, "pick", stops(index)]);
    const wanted = [...drags, ...joined].filter(([, , , places]) => places.length > 1);
    const old = handles;
    handles = wanted.map(([slot, control, kind, places, points]) => {
      const same = (handle) => handle.slot === slot && handle.control === control && handle.kind === kind;
      return Object.assign(old.find(same) ?? made(slot, control, kind), { places, points });
    });
    for (const handle of old) if (!handles.includes(handle)) handle.node.remove();
  };

  /** The box under a handle: the parts for the current place, or the dragged strokes; null if there are none. */
  const boxOf = ({ slot, control, kind, places, points }, here) => {
    const selecting = () => parts().filter((part) => part[1] === control && part[2] === here).map(([node]) => node);
    const strokes = kind === "drag" ? strokesOf(slot) : selecting();
    const boxes = strokes.map((node) => node.getBoundingClientRect()).filter((box) => box.width || box.height);
    if (!boxes.length) return null;
    const [x, y] = ["left", "top"].map((side) => Math.min(...boxes.map((box) => box[side])));
    const [right, low] = ["right", "bottom"].map((side) => Math.max(...boxes.map((box) => box[side])));
    const box = picture.boxOf({ x, y, width: right - x, height: low - y });
    const large = kind === "drag" && Math.min(box.width, box.height) > GRIP;
    return wider(large ? new DOMRect(...pointAt(places, points, here)) : box, reach() * picture.scale);
  };
  const show = () => {
    if (player.shown && player.shown.handles !== number) {
      number = player.shown.handles;
      renew(player.store.records.get(number)?.[1] ?? []);
    }
    // Read all boxes before writing, or the page would be laid out again for each handle.
    const boxes = handles.map((handle) => boxOf(handle, player.at[handle.control]));
    handles.forEach((handle, i) => {
      handle.show(boxes[i]);
      handle.node.style.touchAction = player.locked ? "auto" : scrollingBeside(handle.points);
    });
  };
  return { show };
}

/** The touch-action of a drag handle: the page may scroll only across the line. @param {number[]} points */
function scrollingBeside(points = []) {
  const sides = [0, 1].map((side) => points.filter((_, i) => i % 2 === side));
  const [wide, high] = sides.map((along) => Math.max(...along) - Math.min(...along));
  return wide > 2 * high ? "pan-y" : high > 2 * wide ? "pan-x" : "none";
}
