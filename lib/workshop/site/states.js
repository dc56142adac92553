/**
 * Stored states of a panel, from a data script to what `frozen` plays. `states_packed.py` says what is in them.
 *
 * @typedef {{format: number, spec: Object<string, Object>, records: Array[], instead: Object<string, Object<string, Array>>,
 *            states: Array[]}} Packed
 */

const FORMAT = 1;

/** The states of a panel in a language. Throws an Error for what is missing, not whole or of another edition.
 *  @param {Packed} packed @param {string} language @returns {{spec: Object, states: Object[], records: Object}} */
export function statesFor(packed, language) {
  if (packed?.format !== FORMAT) throw new Error("stored states of another edition, or none");
  const { spec, records, instead, states } = packed;
  const here = records.map((record, i) => instead[language]?.[i + 1] ?? record);
  const now = []; // what rests, what can be touched, the strokes of each hole
  const unpacked = states.map(([at, lines, ...changes]) => {
    for (let i = 0; i < changes.length; i += 2) now[changes[i]] = changes[i + 1];
    const [rest, handles, ...moving] = now;
    return { at, line: lines[Object.keys(spec).indexOf(language)], rest, handles, moving: moving.map((strokes) => [strokes].flat()) };
  });
  const named = new Set(unpacked.flatMap(({ rest, handles, moving }) => [rest, handles, ...moving.flat()]));
  if (!unpacked.length || [...named].some((number) => !here[number - 1])) throw new Error("stored states are not whole");
  return { spec: spec[language], states: unpacked, records: Object.fromEntries(here.map((record, i) => [i + 1, record])) };
}
