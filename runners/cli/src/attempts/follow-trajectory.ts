// Reads what is appended to the trajectory of a running attempt: complete lines only, each once.
import { readingLimits } from "@mlrb/kit/admission/reading-limits";
import { readFrom } from "@mlrb/kit/files/read-from";
import type { TrajectoryLine } from "@mlrb/report/exports/attempt-source";
import { trajectoryLine } from "@mlrb/report/exports/trajectory-lines";

const pieceBytes = 2 * readingLimits.trajectoryLineBytes.max;
const newline = 10;

export class FollowedTrajectory {
  readonly #path: string;
  #from = 0;
  #index = 0;
  #broken = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** The lines that were completed since the last call. After a broken line, which says why, there are no more. */
  next(): TrajectoryLine[] {
    const lines: TrajectoryLine[] = [];
    while (!this.#broken) {
      const bytes = readFrom(this.#path, this.#from, pieceBytes);
      const end = bytes === undefined ? -1 : bytes.lastIndexOf(newline);
      if (bytes !== undefined && end < 0 && bytes.length === pieceBytes)
        return [...lines, this.#tooLong(bytes.length)];
      if (bytes === undefined || end < 0) return lines;
      for (let at = 0; at <= end && !this.#broken; ) {
        const next = bytes.indexOf(newline, at);
        const line = trajectoryLine(this.#index++, bytes.subarray(at, next));
        lines.push(line);
        this.#broken = line.kind === "broken";
        at = next + 1;
      }
      this.#from += end + 1;
    }
    return lines;
  }

  #tooLong(bytes: number): TrajectoryLine {
    this.#broken = true;
    return {
      kind: "broken",
      index: this.#index,
      why: `line ${this.#index + 1} is longer than ${bytes} bytes`,
    };
  }
}
