// A record whose content does not match its name. The rest of its text may show its attempt, so that the record
// stops only that attempt.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { ifReadable } from "../store/if-readable.ts";

/** Never skipped: an attempt that is silently rerun costs as much as the first time. */
export class DamagedRecord extends Error {
  constructor(digest: string, what: string) {
    super(
      `attempt ${digest.slice(0, 12)} is damaged: ${what}; put the original back as .mlrb/attempts/records/${digest}, or remove that folder to have the attempt made again (\`pnpm pipeline attempts verify\` reads all of it)`,
    );
  }
}

/** Returns the attempt of a damaged record, from its remaining text, or undefined if that is unclear. */
export function damagedWords(
  folder: string,
): { slot: AttemptRecord["slot"]; key: string; startedAt: string } | undefined {
  const text = ifReadable(() => readFileSync(join(folder, "record.json"), "utf8")) ?? "";
  const word = (name: string) => {
    const found = [...text.matchAll(new RegExp(`^ {2,4}"${name}": "([^"\\\\\n]*)"`, "gm"))];
    return found.length === 1 ? found[0]![1] : undefined;
  };
  const slot =
    /^ {2}"slot": \{\n {4}"pipeline": "([^"\n]+)",\n {4}"profile": "([^"\n]+)",\n {4}"stage": "([^"\n]+)"\n {2}\}/m.exec(
      text,
    );
  const key = word("attemptKey");
  if (!slot || key === undefined) return undefined;
  const [, pipeline, profile, stage] = slot as unknown as string[];
  return {
    slot: { pipeline: pipeline!, profile: profile!, stage: stage! },
    key,
    startedAt: word("startedAt") ?? "",
  };
}
