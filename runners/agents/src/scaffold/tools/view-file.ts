import { closedObject, text } from "@mlrb/formats/schema";
import { clipMax, shownText } from "../clip-text.ts";
import { pieceOf } from "../read-inside.ts";
import { refused, tool } from "../tool.ts";
import { workspacePath } from "../workspace-path.ts";

/** Bytes that are searched for the first line. */
const scanMax = 64 << 20;
const lineMax = 2_000;
const linesMax = 2_000;

export const path = { ...text, description: "Relative to the workspace, or absolute and in it." } as const;
const fromOne = { type: "integer", minimum: 1 } as const;

export const viewFile = tool({
  name: "view_file",
  description:
    "Shows lines of a text file of the workspace, numbered. Long outputs of other tools lie in outputs/ and can be viewed with it.",
  input: closedObject(
    {
      path,
      fromLine: { ...fromOne, maximum: 1e9, description: "The first line, from 1." },
      lines: { ...fromOne, maximum: linesMax, description: "How many; 200 where not given." },
    },
    ["path"],
  ),
  restarted: "repeats",
  async run({ path: asked, fromLine = 1, lines = 200 }, world) {
    const found = workspacePath(asked, world);
    const page = new Page({ fromLine, lines });
    let from = 0;
    while (!page.full) {
      const piece = await pieceOf(world, found, from);
      if (piece.length === 0) break;
      from += piece.length;
      page.take(piece);
      if (!page.full && from >= scanMax)
        return refused(
          `line ${fromLine} of ${found.shown} lies beyond its first ${scanMax} bytes; use shell, e.g. sed -n or tail`,
        );
    }
    page.end();
    if (from === 0) return { outcome: "done", text: `${found.shown} is empty` };
    const { shown, full, number } = page;
    if (shown.length === 0)
      return refused(`${found.shown} has ${number} lines; there is no line ${fromLine}`);
    const next = full
      ? `[… more follows; go on with "fromLine": ${fromLine + shown.length} …]`
      : `[end of ${found.shown}]`;
    return { outcome: "done", text: [...shown, next].join("\n") };
  },
});

type Range = { fromLine: number; lines: number };

/** Collects the lines of a range from a file's pieces. */
class Page {
  readonly #range: Range;
  readonly shown: string[] = [];
  /** Lines so far. */
  number = 0;
  /** Whether a line did not fit. */
  full = false;
  #characters = 0;
  #line: Buffer = Buffer.alloc(0);
  #cutBytes = 0;
  #open = false;

  constructor(range: Range) {
    this.#range = range;
  }

  take(piece: Uint8Array): void {
    let at = 0;
    for (let end = piece.indexOf(10); end >= 0 && !this.full; end = piece.indexOf(10, at)) {
      this.#gather(piece.subarray(at, end));
      this.#endLine();
      at = end + 1;
    }
    if (this.full) return;
    this.#gather(piece.subarray(at));
    this.#open = piece.at(-1) !== 10;
  }

  /** Takes the last line if no newline ends it. */
  end(): void {
    if (this.#open && !this.full) this.#endLine();
  }

  /** Keeps the beginning of a line, in bytes: a character has at most four. */
  #gather(part: Uint8Array): void {
    if (this.number + 1 < this.#range.fromLine) return;
    const kept = part.subarray(0, Math.max(0, 4 * lineMax - this.#line.length));
    if (kept.length > 0) this.#line = Buffer.concat([this.#line, kept]);
    this.#cutBytes += part.length - kept.length;
  }

  #endLine(): void {
    const { fromLine, lines } = this.#range;
    this.number++;
    if (this.number < fromLine) return;
    const text = numbered(this.number, this.#line, this.#cutBytes);
    const { shown } = this;
    this.full = shown.length === lines || (shown.length > 0 && this.#characters + text.length > clipMax);
    if (!this.full) {
      shown.push(text);
      this.#characters += text.length + 1;
    }
    this.#line = Buffer.alloc(0);
    this.#cutBytes = 0;
  }
}

function numbered(number: number, line: Uint8Array, cutBytes: number): string {
  const text = shownText(line).replace(/\n$/, "");
  const short = text.slice(0, lineMax);
  const more = cutBytes > 0 || short.length < text.length ? " [… this line is longer …]" : "";
  return `${String(number).padStart(6)}\t${short}${more}`;
}
