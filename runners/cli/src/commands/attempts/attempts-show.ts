// `pipeline attempts show`: prints the story of an attempt, or its record as JSON.

import type { MemberDecision } from "@mlrb/formats/attempt/adjudication";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import { isTrusted, recordedWeakLimits } from "@mlrb/local/records/recorded-limits";
import { uncheckedText, weakLimitsText } from "@mlrb/report/read/attempt-marks";
import { decisionText } from "@mlrb/report/read/decisions";
import { attemptStory } from "@mlrb/report/story/attempt-story";
import { storyText } from "@mlrb/report/story/story-text";
import { madeText } from "../../attempts/competing-records.ts";
import { readAttempt } from "../../attempts/read-attempt.ts";
import { spent, spentWords } from "../../gates/spent.ts";
import { attemptPlace, findAttempt } from "../../request/find-attempt.ts";
import { refuseWords } from "../../request/refuse.ts";
import type { PlaceOptions } from "../../request/root-folder.ts";
import { oneLine, printJson } from "../../show/print.ts";
import { stdoutLook } from "../../show/terminal.ts";

export type ShowOptions = PlaceOptions & { all: boolean };

export function attemptsShow(repository: string, what: string, options: ShowOptions): number {
  const place = attemptPlace(repository, options.root);
  const found = findAttempt(what, place);
  if (typeof found === "string") return refuseWords(found);
  if (options.json) {
    const { kind } = found;
    const origin = kind === "record" ? place.records.originOf(found.digest) : undefined;
    const decisions = kind === "record" ? place.records.decisionsOn(found.digest) : [];
    const line =
      kind === "record"
        ? { event: "attempt", digest: found.digest, ...found.record, ...(origin && { origin }), decisions }
        : { event: "attempt", state: kind, name: found.attempt.name, ...found.attempt.card };
    printJson(line);
    return 0;
  }
  const { all: full } = options;
  process.stdout.write(
    storyText(attemptStory(readAttempt(found, place), { full }), { ...stdoutLook(), full }),
  );
  const kept =
    found.kind === "record"
      ? `${originLine(place.records.originOf(found.digest))}${limitsLine(found.record)}${checksLine(found.record)}${decisionLines(place.records.decisionsOn(found.digest))}${costLine(found.record)}${found.folder}`
      : found.attempt.path;
  process.stdout.write(`\n${kept}\n`);
  return 0;
}

/** Empty for a record that was made here. */
function originLine(origin: HeldRecord["origin"]): string {
  return origin
    ? `${oneLine(`${madeText(origin)}, on ${origin.importedAt} from archive ${origin.archive.slice(0, 12)}`)}\n`
    : "";
}

/** A line for each decision of a person; empty without any. */
function decisionLines(decisions: readonly MemberDecision[]): string {
  return decisions
    .map((one) => `${oneLine(`${one.rule}, decided by a person: ${decisionText(one)}`)}\n`)
    .join("");
}

/** Who held the limits of its sandbox; empty for a trusted program. */
function limitsLine(record: AttemptRecord): string {
  if (isTrusted(record.parts)) return "";
  const weak = weakLimitsText({ weakLimits: recordedWeakLimits(record) });
  return `${weak === "" ? "the kernel held the limits of its sandbox" : `weak limits: ${weak}`}\n`;
}

/** The checks that a person left out; empty if there are none. */
function checksLine(record: AttemptRecord): string {
  const text = uncheckedText(record);
  return text === "" ? "" : `${oneLine(text)}\n`;
}

/** Cost and estimate; empty if both are 0. */
function costLine({ cost, estimate, ran }: AttemptRecord): string {
  if (!estimate) return "";
  const words = spentWords(spent([{ estimate, cost, durationMs: ran.durationMs }])!);
  return words === undefined ? "" : `${words}\n`;
}
