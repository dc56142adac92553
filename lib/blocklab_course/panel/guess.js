/** The reader's guess: the index of an option, the text of a number, or -1 if skipped; null before. */

/** Whether this answers the question. @param {Guess} guess */
export const isGuess = ({ options }, choice) =>
  choice === -1 ||
  (options ? Number.isInteger(choice) && choice in options : typeof choice === "string" && isFinite(parseFloat(choice)));

/** Whether a guess is right; null if the question was skipped. @param {Guess} guess */
export function isRight({ right, within, options }, choice) {
  if (choice === -1) return null;
  return options ? choice === right : Math.abs(Number(choice) - right) <= within;
}

/** The text shown after a guess. @param {Guess} guess @returns {string} */
export function feedback(guess, choice) {
  if (choice === -1) return guess.skipped;
  return guess.options ? guess.told[choice] : guess.told[Number(isRight(guess, choice))].replace("{said}", () => choice);
}
