// Reads an attempt for exports and stories: from its record, or from the folder of a running or lost attempt.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LongText } from "@mlrb/formats/attempt/trajectory";
import { readFrom } from "@mlrb/kit/files/read-from";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { outputPaths } from "@mlrb/local/stage/output-paths";
import type { AttemptSource, TrajectoryLine, WholeText } from "@mlrb/report/exports/attempt-source";
import { trajectoryLines } from "@mlrb/report/exports/trajectory-lines";
import type { AttemptPlace, FoundAttempt } from "../request/find-attempt.ts";
import { attemptScores } from "./attempt-scores.ts";

/** Absolute paths of the attempt's outputs, by name. */
type Files = Record<string, string>;

export function readAttempt(found: FoundAttempt, { state }: AttemptPlace): AttemptSource {
  if (found.kind === "record") {
    const { digest, record, folder } = found;
    const files = Object.fromEntries(
      Object.entries(record.outputs).map(([name, { file }]) => [name, join(folder, file)]),
    );
    const { slot, axes, attemptKey, ran } = record;
    const read = contents(files);
    const budgetMs = read.ledger.read?.budget.wallMs ?? null;
    const submission = record.outputs.submission?.digest ?? null;
    const scores = attemptScores(state.results, { slot, axes, submission, budgetMs });
    const { startedAt, durationMs, executor, where = {} } = ran;
    return {
      ...{ id: digest, state: "recorded", slot, axes, key: attemptKey, startedAt, durationMs, executor },
      ...{ where: words(where), scores, submission, ...read },
    };
  }
  const { name, path, card, state: left } = found.attempt;
  const failure =
    left.kind === "ended" && left.end.result.kind === "failed" ? left.end.result.detail : undefined;
  const { slot, axes, key, startedAt, executor } = card;
  const read = contents(outputPaths(path, card.gives));
  return {
    ...{ id: name, state: found.kind, slot, axes, key, startedAt, durationMs: null, executor },
    ...{ where: {}, scores: null, ...read },
    ...(failure !== undefined && { failure }),
  };
}

function contents(files: Files): Pick<AttemptSource, "ledger" | "lines" | "whole"> {
  const { trajectory, ledger, attachments } = files;
  const read = ledger === undefined || !existsSync(ledger) ? "it has no ledger" : readLedger(ledger);
  return {
    ledger: typeof read === "string" ? { read: null, why: read } : { read },
    lines: () => (trajectory === undefined ? none() : trajectoryLines(trajectory)),
    whole: (text, bytesMax) => whole(text, { bytesMax, folder: attachments }),
  };
}

function none(): TrajectoryLine[] {
  return [{ kind: "broken", index: 0, why: "there is no trajectory" }];
}

/** Reads at most `bytesMax` of a long text from the folder of attachments, where its digest is its name. */
function whole(
  text: LongText,
  { bytesMax, folder }: { bytesMax: number; folder: string | undefined },
): WholeText {
  if (typeof text === "string") return { text, missing: null };
  const gone: WholeText = { text: text.head, missing: `the rest of ${text.bytes} bytes is missing` };
  // the digest comes from the trajectory: it must not lead out of the folder
  if (folder === undefined || !/^[0-9a-f]{64}$/.test(text.digest)) return gone;
  const path = join(folder, text.digest);
  try {
    const more = statSync(path).size - bytesMax;
    const missing = more > 0 ? `${more} more bytes are left out` : null;
    return { text: readFrom(path, 0, bytesMax)!.toString("utf8"), missing };
  } catch {
    return gone;
  }
}

function words(where: object): Record<string, string> {
  return Object.fromEntries(Object.entries(where).map(([name, value]) => [name, String(value)]));
}
