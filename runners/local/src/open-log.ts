// The log that a try of a stage writes: with the tries before it, so that each is kept, and without
// secrets where the stage is handed some.
import { appendFileSync, existsSync, renameSync } from "node:fs";
import { RedactedLog, secretsNamed } from "./redacted-log.ts";
import { StageLog } from "./stage-log.ts";

export type LogWanted = {
  /** In the stage's work folder: what it writes to. */
  from: string;
  /** Where people look for it. */
  to: string;
  /** Names of what it is handed. */
  secrets: string[];
  /** How the try before ended; undefined in the first. */
  before?: string | undefined;
  /** A run before this one may have followed it, and have moved it to its end. */
  adopted?: boolean;
};

export function openLog({ from, to, secrets, before, adopted = false }: LogWanted): StageLog | RedactedLog {
  if (adopted && !existsSync(from) && existsSync(to)) renameSync(to, from);
  if (before !== undefined && !adopted) {
    if (existsSync(to)) renameSync(to, from); // the stage goes on writing at its end
    appendFileSync(from, `mlrb: ${before}\n`);
  }
  const values = secretsNamed(secrets);
  return Object.keys(values).length > 0 ? new RedactedLog(from, to, values) : new StageLog(from, to);
}
