/**
 * Stored states of a panel, from a data script to what `frozen` plays. `states_encode.py` says what is in them, and
 * `states_compress.py` what columns are.
 *
 * @typedef {[string, number[], ...Array[]][]} Columns
 * @typedef {{format: number, narrow: boolean, spec: Object<string, Object>, records: Columns, instead: Object<string, Columns>,
 *            states: Array[]}} Packed
 */

const FORMAT = 2;

/** What was told by differences. @param {number[]} steps */
function summed(steps) {
  let at = 0;
  return steps.map((step) => (at += step));
}

/** x, y, x, y, … of what was told by differences. */
function placed(across, down) {
  const [xs, ys] = [summed(across), summed(down)];
  return xs.flatMap((x, i) => [x, ys[i]]);
}

/** The d of a path that was told in steps. */
function pathOf(x, y, shape, across, down) {
  const steps = placed(across, down);
  let at = 0;
  const led = (_, letter, many) => letter + steps.slice(at, (at += 2 * many)).join(" ");
  return `M${x} ${y}${shape.replace(/([a-z])(\d*)/g, led)}`;
}

/** Records as the player has them. */
const WHOLE = {
  steps: (style, clip, x, y, shape, across, down, ...hatch) =>
    ["path", style, clip, pathOf(x, y, shape, across, down), ...hatch],
  marks: (style, clip, d, across, down) => ["marks", style, clip, d, placed(across, down)],
  handles: (all) =>
    ["handles", all.map(([slot, control, way, places, ...points]) =>
      way === "drag" ? [slot, control, way, summed(places), placed(...points)] : [slot, control, way, places])],
};

/** The records of columns with their numbers. @param {Columns} columns @returns {[number, Array][]} */
function recordsIn(columns) {
  return columns.flatMap(([kind, numbers, ...parts]) => {
    const whole = WHOLE[kind] ?? ((...about) => [kind, ...about]);
    return summed(numbers).map((number, i) => [number, whole(...parts.map((part) => part[i]))]);
  });
}

/** The states of a panel in a language. Throws an Error for those of another edition.
 *  @param {Packed} packed @param {string} language @returns {{spec: Object, states: Object[], records: Object}} */
export function statesFor(packed, language) {
  if (packed.format !== FORMAT) throw new Error("stored states of another edition", { cause: "edition" });
  const { narrow, spec, records, instead, states } = packed;
  const here = new Map([...recordsIn(records), ...recordsIn(instead[language] ?? [])]);
  const now = []; // what rests, what can be touched, the strokes of each slot
  const unpacked = states.map(([at, lines, ...changes]) => {
    for (let i = 0; i < changes.length; i += 2) now[changes[i]] = summed([changes[i + 1]].flat());
    const [[rest], [handles], ...moving] = now;
    return { at, narrow, line: lines[Object.keys(spec).indexOf(language)], rest, handles, moving };
  });
  return { spec: spec[language], states: unpacked, records: Object.fromEntries(here) };
}
