// Collapses the lines that a program redraws with carriage returns, as progress bars do: thousands of states of
// one line are one line, in its last state. An overwritten state that is no redraw of the next, e.g. an error
// before which a bar goes on, is kept as a line of its own. Works on any pieces of a text, and holds at most one
// short line. Pure but for the held line: no disk, no clock.

/** A longer line is given on in parts, so that an endless line does not pile up in memory. */
const heldMax = 1 << 16;

/** Numbers with their unit, which may change its scale; and all but letters, e.g. bars, spinners and spaces. */
const changing =
  /(?:\d[\d.,:]*(?:e[-+]?\d+)?|\?)\s?(?:(?:it|m?s|[kKMGTP]i?[Bb]?|[Bb])(?:\/(?:it|s))?(?!\p{L}))?|\P{L}/gu;

/** What stays the same while a line is redrawn. */
function wordsOf(state: string): string {
  return state.replace(changing, "");
}

export function redrawnLines() {
  let state = "";
  /** The last earlier state of this line that is not blank: an erased line still shows it. */
  let earlier: string | undefined;
  let earlierWords = "";
  /** The earlier state as a line of its own where `state` does not redraw it. */
  const overwritten = (words: string) =>
    earlier === undefined || words === earlierWords ? "" : `${earlier}\n`;
  const take = () => {
    const isBlank = state.trim() === "";
    const text = isBlank
      ? (earlier ?? state)
      : (earlier === undefined ? "" : overwritten(wordsOf(state))) + state;
    state = "";
    earlier = undefined;
    return text;
  };
  const overwrite = () => {
    if (state.trim() === "") {
      state = "";
      return "";
    }
    const words = wordsOf(state);
    const text = overwritten(words);
    earlier = state;
    earlierWords = words;
    state = "";
    return text;
  };
  return {
    /** The next piece of the text; returns what is final of it. */
    push(piece: string): string {
      let out = "";
      for (const [, text, end] of piece.matchAll(/([^\r\n]*)([\r\n]|$)/g)) {
        state += text;
        if (end === "\n") out += `${take()}\n`;
        else if (end === "\r") out += overwrite();
        else if (state.length > heldMax) out += take();
      }
      return out;
    },
    /** The rest, with the last state of a line without an end. */
    end: take,
  };
}
