// A terminal for tests: holds what a person would see, without colours. It knows the few escape sequences that the program uses and
// refuses others, wraps lines that are too wide, and wraps them again when its width changes, as terminals do.
import { displayWidth } from "@mlrb/core/text/display-width";

type Row = {
  /** One per column; a wide character is followed by an empty cell. */
  cells: string[];
  /** Wrapped here because the line was full. */
  goesOn: boolean;
};

export class Screen {
  readonly isTTY = true;
  columns: number;
  rows: number;
  /** The number of writes. */
  writes = 0;
  #lines: Row[] = [{ cells: [], goesOn: false }];
  #row = 0;
  #column = 0;

  constructor(size: { columns: number; rows: number }) {
    this.columns = size.columns;
    this.rows = size.rows;
  }

  write(text: string): boolean {
    this.writes++;
    const parts = text.match(/\u001b\[\d*[A-Za-z]|[\r\n]|[^\u001b\r\n]+/gu) ?? [];
    if (parts.join("") !== text) throw new Error(`not understood by this terminal: ${JSON.stringify(text)}`);
    for (const part of parts) {
      if (/^[\u001b\r\n]/u.test(part)) this.#take(part);
      else for (const { segment } of new Intl.Segmenter().segment(part)) this.#take(segment);
    }
    return true;
  }

  /** Everything since the beginning, including rows scrolled away. */
  text(): string {
    return `${this.#lines.map(({ cells }) => cells.join("").trimEnd()).join("\n")}\n`;
  }

  resize(columns: number): void {
    this.columns = columns;
    const lines: Row[] = [];
    let row = 0;
    let whole: string[] = [];
    for (const [at, { cells, goesOn }] of this.#lines.entries()) {
      whole.push(...cells);
      if (goesOn && at < this.#lines.length - 1) continue;
      do lines.push({ cells: whole.splice(0, columns), goesOn: whole.length > 0 });
      while (whole.length > 0);
      if (at === this.#row) row = lines.length - 1; // the cursor is after the last written character
      whole = [];
    }
    this.#lines = lines;
    this.#row = row;
    this.#column = lines[row]!.cells.length;
  }

  #take(part: string): void {
    const line = this.#lines[this.#row]!;
    const sequence = /^\u001b\[(\d*)([A-Za-z])$/.exec(part);
    if (part === "\r") this.#column = 0;
    else if (part === "\n") this.#down();
    else if (sequence) this.#obey(sequence[2]!, Number(sequence[1] || 1));
    else {
      const width = displayWidth(part);
      if (this.#column + width > this.columns) {
        line.goesOn = true;
        this.#down();
      }
      const { cells } = this.#lines[this.#row]!;
      while (cells.length < this.#column) cells.push(" ");
      cells.splice(this.#column, width, part, ...(width === 2 ? [""] : []));
      this.#column += width;
    }
  }

  #down(): void {
    this.#row++;
    this.#column = 0;
    if (this.#row === this.#lines.length) this.#lines.push({ cells: [], goesOn: false });
  }

  #obey(name: string, count: number): void {
    const line = this.#lines[this.#row]!;
    if (name === "A") {
      if (this.#row < count) throw new Error("moved above the first line");
      this.#row -= count;
    } else if (name === "K" || name === "J") {
      line.cells.length = Math.min(line.cells.length, this.#column);
      line.goesOn = false;
      if (name === "J") this.#lines.length = this.#row + 1;
    } else if (name !== "m") {
      throw new Error(`not understood by this terminal: ${name}`);
    }
  }
}
