// A few lines at the bottom of a terminal that are redrawn in place. Each redraw is one write, and each line is
// cleared after its text, so that nothing flickers.
import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "@mlrb/core/text/display-width";

type Terminal = { write(text: string): unknown; columns?: number };

const clearLine = "\u001b[K";
const clearBelow = "\u001b[J";

export class LiveBlock {
  readonly #terminal: Terminal;
  #shown: string[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Each line must be narrower than the terminal. */
  draw(lines: string[]): void {
    if (lines.length === this.#shown.length && lines.every((line, at) => line === this.#shown[at])) return;
    this.#terminal.write(this.#begin() + rows(lines));
    this.#shown = lines;
  }

  /** Prints permanent lines, and redraws the block below them. */
  above(text: string[], lines: string[]): void {
    this.#terminal.write(
      `${this.#begin()}${text.map((line) => `${line}${clearLine}\n`).join("")}${rows(lines)}`,
    );
    this.#shown = lines;
  }

  clear(): void {
    if (this.#shown.length === 0) return;
    this.#terminal.write(`${this.#begin()}${clearBelow}`);
    this.#shown = [];
  }

  /**
   * Moves the cursor to the start of the block. A terminal that has become narrower has wrapped the lines, which
   * then take more rows than were written.
   */
  #begin(): string {
    if (this.#shown.length === 0) return "";
    const columns = this.#terminal.columns || 80;
    const taken = this.#shown.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(displayWidth(stripVTControlCharacters(line)) / columns)),
      0,
    );
    return taken > 1 ? `\r\u001b[${taken - 1}A` : "\r";
  }
}

function rows(lines: string[]): string {
  return `${lines.map((line) => line + clearLine).join("\n")}${clearBelow}`;
}
