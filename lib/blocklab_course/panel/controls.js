/** The controls of a panel in the page, and the question that comes before them. */

import { button, div, filled, html, onArrows, onKey, setText, svg } from "./dom.js";
import { nearestStop, saidAt, valueAt } from "./stops.js";
import { feedback, isRight } from "./guess.js";

const MOST_BUTTONS = 46; // em: a wider choice becomes a list

/** A slider. Every kind of control returns its element and a function that shows the player's state. */
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
  // ArrowLeft and ArrowRight move the text cursor.
  onArrows(box, here, () => last, (stop) => (typed(), step(stop)), /^(Arrow|Page)(Up|Down)$/);
  return { node: div("control", html("label", { for: id }, label), range, box, play), show };
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
  const node = div("control", html("label", { for: id }, player.spec.controls[index].label), div("toggle", box));
  return { node, show: () => (box.checked = player.at[index] === 1) };
}

export const KINDS = { slider, choice, toggle };

/** The buttons of a question, one for each option. Both kinds of answers return elements and a function that shows the
 *  choice. */
function optionButtons({ guess }, answer) {
  const nodes = guess.options.map((option, i) => button(option, () => answer(i)));
  const show = (guessed, locked) => nodes.forEach((option, i) => {
    option.disabled = !locked;
    option.setAttribute("aria-pressed", i === guessed);
    option.classList.toggle("blocklab-right", !locked && i === guess.right);
    option.classList.toggle("blocklab-wrong", !locked && i === guessed && i !== guess.right);
  });
  return { nodes, show };
}

/** A box for a number and the button that commits it. */
function numberBox({ guess, words }, answer) {
  const box = html("input", { type: "number", step: "any", "aria-label": guess.question ?? guess.label });
  const commit = () => (Number.isNaN(box.valueAsNumber) ? box.focus() : answer(box.value));
  const press = button(words.commit, commit, "commit");
  onKey(box, (key) => key === "Enter" && (commit(), true));
  const show = (guessed, locked) => {
    box.disabled = press.disabled = !locked;
    press.hidden = !locked;
    if (typeof guessed === "string") box.value = guessed;
    box.classList.toggle("blocklab-right", typeof guessed === "string" && isRight(guess, guessed));
    box.classList.toggle("blocklab-wrong", typeof guessed === "string" && !isRight(guess, guessed));
  };
  return { nodes: [box, press], show };
}

/** The question before anything moves, and the feedback afterwards. `answered` gets the text of the feedback. */
export function question(player, answered) {
  const { guess, words } = player.spec;
  const answer = (choice) => (player.guess(choice), answered(feedback(guess, choice)));
  const answers = (guess.options ? optionButtons : numberBox)(player.spec, answer);
  const skip = button(words.skip, () => answer(-1), "skip");
  const [verdict, explanation] = [html("strong"), html("span")];
  const told = filled(div("told", verdict, explanation), { "aria-live": "polite", tabindex: -1 });
  const asked = guess.question ? [div("label", guess.label), div("asked", guess.question)] : [div("asked", guess.label)];
  const node = div("guess", ...asked, div("options", ...answers.nodes, skip), told);
  filled(node, { role: "group", "aria-label": guess.question ?? guess.label });
  const show = () => {
    const { guessed, locked } = player;
    answers.show(guessed, locked);
    skip.hidden = !locked;
    told.hidden = locked;
    told.classList.toggle("blocklab-right", !locked && isRight(guess, guessed));
    setText(verdict, locked ? "" : feedback(guess, guessed).slice(0, -guess.skipped.length));
    setText(explanation, locked ? "" : guess.skipped);
  };
  return { node, show, told };
}

export function padlock() {
  const d = "M4 7V5a4 4 0 0 1 8 0v2h1v7H3V7h1zm2 0h4V5a2 2 0 0 0-4 0z";
  return svg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, svg("path", { d }));
}

export function reset(player) {
  const node = button("↺", () => player.reset(), "reset");
  return filled(node, { "aria-label": player.spec.words.reset, title: player.spec.words.reset });
}
