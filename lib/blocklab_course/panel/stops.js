/** Controls as numbers: the stop of a slider, the option of a choice (-1: none), 0 or 1 for a toggle. */

const PLAY = 3000; // ms from the first stop to the last

/** The last place of a control; the first is 0. @param {Control} control */
export const lastOf = ({ kind, last, options }) => ({ slider: last, choice: options?.length - 1, toggle: 1 })[kind];

/** The value of a slider's stop, without floating-point noise. @param {Control} slider @param {number} stop */
export function valueAt(slider, stop) {
  const value = slider.log ? slider.start * slider.step ** stop : slider.start + slider.step * stop;
  return slider.whole ? Math.trunc(value) : Number(value.toPrecision(12));
}

/** The stop nearest to a number, clamped to the range. @param {Control} slider @param {number} number */
export function nearestStop(slider, number) {
  const low = valueAt(slider, 0);
  const inside = Math.min(Math.max(number, low), valueAt(slider, slider.last));
  const steps = slider.log ? Math.log(inside / slider.start) / Math.log(slider.step) : (inside - low) / slider.step;
  return clamp(Math.round(steps), slider.last);
}

/** The text of a control at a place: a number, an option, or nothing. @param {Control} control @returns {string} */
export const saidAt = (control, at) => {
  if (control.kind !== "slider") return control.options?.[at] ?? "";
  const value = valueAt(control, at); // logarithmic stops need few digits
  return String(control.log && !control.whole ? Number(value.toPrecision(4)) : value);
};

/** The stop that a key moves to, or null for other keys. @param {string} key @returns {number?} */
export function keyStop(key, stop, last) {
  const page = Math.max(1, Math.round(last / 10));
  const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: page, PageDown: -page };
  return key in by ? clamp(stop + by[key], last) : ({ Home: 0, End: last }[key] ?? null);
}

/** The stop reached `elapsed` ms after playing started at `stop`: up to the last stop and back, repeatedly. */
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

export const clamp = (number, last) => Math.min(Math.max(number, 0), last);

/** The control whose label a text names first, or else the first control. @param {Control[]} controls */
export function controlNamed(text, controls) {
  const places = controls.map(({ label }) => text.indexOf(label));
  const first = Math.min(...places.filter((place) => place >= 0));
  return Math.max(0, places.indexOf(first));
}
