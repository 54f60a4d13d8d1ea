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
  /** Whether these are all values that its secrets ever had; asked again and again. Absent where none is replaced. */
  knows?: (secrets: Record<string, string>) => boolean;
};

export function openLog({
  from,
  to,
  secrets,
  before,
  adopted = false,
  knows,
}: LogWanted): StageLog | RedactedLog {
  if (adopted && !existsSync(from) && existsSync(to)) renameSync(to, from);
  if (before !== undefined && !adopted) {
    if (existsSync(to)) renameSync(to, from); // the stage goes on writing at its end
    appendFileSync(from, `mlrb: ${before}\n`);
  }
  const values = secretsNamed(secrets);
  const mayCopy = () => secrets.length === 0 || knows === undefined || knows(values);
  return Object.keys(values).length > 0 || !mayCopy()
    ? new RedactedLog(from, to, values, { mayCopy })
    : new StageLog(from, to);
}
