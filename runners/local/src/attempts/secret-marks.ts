// Marks in an attempt's folder which values its secrets had. A key may be replaced during the attempt, and the run
// that follows the attempt may know another value. A program that does not know all values copies no log. A mark
// is three bytes of a salted hash: enough to distinguish values, too little to recover one.
import { hash, randomBytes } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

const marksFile = "secret-marks.jsonl";

type Mark = { formatVersion: 1; salt: string; mark: string };

/** Call before the attempt gets the values. Throws where the marks cannot be written. */
export function markSecrets(folder: string, secrets: Record<string, string>): void {
  const lines = Object.values(secrets).map((value) => {
    const salt = randomBytes(16).toString("hex");
    const mark: Mark = { formatVersion: 1, salt, mark: markOf(value, salt) };
    return `${JSON.stringify(mark)}\n`;
  });
  appendFileSync(join(folder, marksFile), lines.join(""), { mode: 0o600, flush: true });
}

/** Whether these are all values that the attempt ever had; false where the marks cannot be read. */
export function knowsSecrets(folder: string, secrets: Record<string, string>): boolean {
  const values = Object.values(secrets);
  try {
    return readFileSync(join(folder, marksFile), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .every((line) => {
        const { salt, mark } = JSON.parse(line) as Mark;
        return values.some((value) => markOf(value, salt) === mark);
      });
  } catch {
    return false; // torn or missing
  }
}

function markOf(value: string, salt: string): string {
  return hash("sha256", `${salt}${value}`).slice(0, 6);
}
