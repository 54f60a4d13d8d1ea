// Opens the log of one try of a stage. The log keeps the earlier tries, and holds no secrets of the stage.
import { appendFileSync, existsSync, renameSync } from "node:fs";
import { RedactedLog, secretsNamed } from "./redacted-log.ts";
import { StageLog } from "./stage-log.ts";

export type LogWanted = {
  /** The log in the stage's work folder, where the stage writes. */
  from: string;
  /** The log where users read it. */
  to: string;
  /** Names of the stage's secrets. */
  secrets: string[];
  /** How the previous try ended; undefined in the first try. */
  before?: string | undefined;
  /** An earlier run may have followed the stage and moved the log to its final place. */
  adopted?: boolean;
  /**
   * Whether these are all values that the secrets ever had; checked repeatedly. Absent where no secret is
   * replaced.
   */
  knows?: (secrets: Record<string, string>) => boolean;
};

export function openLog(wanted: LogWanted): StageLog | RedactedLog {
  const { from, to, secrets, before, adopted = false, knows } = wanted;
  if (adopted && !existsSync(from) && existsSync(to)) renameSync(to, from);
  if (before !== undefined && !adopted) {
    if (existsSync(to)) renameSync(to, from); // the stage continues at the end of the file
    appendFileSync(from, `mlrb: ${before}\n`);
  }
  const values = secretsNamed(secrets);
  const mayCopy = () => secrets.length === 0 || knows === undefined || knows(values);
  return Object.keys(values).length > 0 || !mayCopy()
    ? new RedactedLog(from, to, values, { mayCopy })
    : new StageLog(from, to);
}
