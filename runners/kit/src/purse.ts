// What an attempt may spend by what the command line said, beside its own budget: it lies in the attempt's folder for
// its harness, is in no key, and reaches no sandbox.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { canonicalJson } from "./json-file.ts";

export type Purse = {
  formatVersion: 1;
  /** As the command line said them: `MODEL=INPUT/OUTPUT`. */
  prices: string[];
  /** The file in which all attempts of the run write down what they spend; null: the run has no cap. */
  cap: string | null;
};

/** Of an attempt's folder. */
export const purseFile = "purse.json";

/** Begins a cap, or moves one that there is: attempts that go on see the new limit before their next call. */
export function writeCap(path: string, maxDollars: number): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `\n${canonicalJson({ formatVersion: 1, maxDollars })}\n`, { flush: true });
}

/** Undefined where there is none: an attempt that was begun by hand, or by an older program. Throws on another format. */
export function readPurse(path: string): Purse | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const { formatVersion, prices, cap } = JSON.parse(text) as Partial<Purse>;
  const listed = Array.isArray(prices) && prices.every((one) => typeof one === "string");
  if (formatVersion !== 1 || !listed || (cap !== null && typeof cap !== "string"))
    throw new Error(`${path} is of another format; this program reads format 1`);
  return { formatVersion, prices, cap };
}
