// Collapses the lines that a program redraws with carriage returns, as progress bars do: thousands of states of one
// line are one line, in its last state. Works on any pieces of a text, and holds at most one short line.
// Pure but for the held line: no disk, no clock.

/** A longer line is given on in parts, so that an endless line does not pile up in memory. */
const heldMax = 1 << 16;

export type RedrawnLines = {
  /** The next piece of the text; returns what is final of it. */
  push(piece: string): string;
  /** The rest, with the last state of a line without an end. */
  end(): string;
};

export function redrawnLines(): RedrawnLines {
  let state = "";
  /** The last earlier state of this line that is not blank: an erased line still shows it. */
  let earlier: string | undefined;
  const take = () => {
    const text = earlier === undefined || state.trim() !== "" ? state : earlier;
    state = "";
    earlier = undefined;
    return text;
  };
  return {
    push(piece) {
      let out = "";
      for (const [, text, end] of piece.matchAll(/([^\r\n]*)([\r\n]|$)/g)) {
        state += text;
        if (end === "\n") out += `${take()}\n`;
        else if (end === "\r") {
          if (state.trim() !== "") earlier = state;
          state = "";
        } else if (state.length > heldMax) out += take();
      }
      return out;
    },
    end: take,
  };
}
