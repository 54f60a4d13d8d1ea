// `pipeline attempts list`: records, oldest first, then attempts without a record: running, ended, lost.
import { join } from "node:path";
import { stageMatcher } from "@mlrb/core/plan/select-instances";
import { counted } from "@mlrb/core/text/counted";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { damagedAttempts } from "@mlrb/local/attempts/attempt-folders";
import { waitingAttempts } from "@mlrb/local/attempts/attempt-waits";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import { interventionText } from "@mlrb/report/read/attempt-marks";
import { plainText } from "@mlrb/report/read/plain-text";
import { attemptScores, rememberingReports } from "../../attempts/attempt-scores.ts";
import { attemptSums, recordedCost, sumsWords } from "../../attempts/attempt-sums.ts";
import { type AttemptRow, attemptsTable } from "../../attempts/attempts-table.ts";
import { conflictLines, conflictsAmong, madeText } from "../../attempts/competing-records.ts";
import { personName, readPeople } from "../../attempts/people.ts";
import { type Unrecorded, unrecordedAttempts } from "../../attempts/unrecorded-attempts.ts";
import { amountWords } from "../../gates/spent.ts";
import { type AttemptPlace, attemptPlace } from "../../request/find-attempt.ts";
import { type PlaceOptions, rootFolder } from "../../request/root-folder.ts";
import { shownWait, shownWaitText } from "../../show/attempt-wait-text.ts";
import { oneLine, printJson, printLine } from "../../show/print.ts";

export type ListOptions = PlaceOptions & {
  /** The name of a pipeline. */
  pipeline?: string;
  state?: "recorded" | "running" | "ended" | "lost" | "damaged";
};

/** `wanted`: beginnings of digests or folder names, stage instances or patterns; any of them selects an attempt. */
export function attemptsList(repository: string, wanted: string[], options: ListOptions): number {
  const place = attemptPlace(repository, options.root);
  const { records, state } = place;
  let damaged: { record?: string; path: string; why: string }[] = [];
  const isWanted = filterOf(wanted, options);
  const reports = rememberingReports();
  let readable: HeldRecord[] = [];
  const unrecorded = unrecordedAttempts(state, () => {
    readable = records.readable((record, { message }) =>
      damaged.push({ record, path: join(state.attempts, "records", record), why: message }),
    );
    return readable;
  });
  const held = readable
    .filter(({ digest, record }) => isWanted("recorded", digest, record.slot))
    .sort((a, b) => (a.record.ran.startedAt < b.record.ran.startedAt ? -1 : 1))
    .map((one) => listed(one, place, reports));
  for (const folder of [state.running, join(state.attempts, "lost")])
    for (const one of damagedAttempts(folder))
      damaged.push({ path: join(folder, one.folder), why: one.words });
  // which attempt a damaged one is cannot be read
  const isNarrowed = wanted.length > 0 || options.pipeline !== undefined;
  if (isNarrowed || (options.state ?? "damaged") !== "damaged") damaged = [];
  const root = rootFolder(repository, options.root);
  const waits = new Map(
    waitingAttempts(state.running).map((one) => [one.name, shownWait(one, { repository, root })]),
  );
  const unfinished = unrecorded.filter(({ kind, name, card }) => isWanted(kind, name, card.slot));
  const conflicts = conflictsAmong(held, records);
  const sums = attemptSums(
    held.map(({ record }) => recordedCost(record)),
    unfinished,
  );
  if (options.json) {
    for (const one of held) printJson(recordLine(one));
    for (const { kind, name, card, cost, durationMs, left } of unfinished) {
      const { slot, startedAt } = card;
      const wait = waits.get(name);
      printJson({
        ...{ event: `attempt-${kind}`, name, slot, startedAt, durationMs, cost, ...left },
        ...(wait && { command: wait.command, waits: wait.waits }),
      });
    }
    printJson({ event: "attempt-sums", ...sums });
    for (const one of damaged) printJson({ event: "attempt-damaged", ...one });
    for (const one of conflicts) printJson({ event: "attempt-conflict", ...one });
    return 0;
  }
  const width = process.stdout.columns ?? Number(process.env.COLUMNS ?? Number.POSITIVE_INFINITY);
  for (const line of attemptsTable(held.map(rowOf), width)) process.stdout.write(`${line}\n`);
  for (const one of unfinished) printUnfinished(one, waits.get(one.name));
  for (const { why } of damaged) printLine(`damaged       ${why}`);
  for (const line of conflicts.flatMap((one) => conflictLines(one, records))) printLine(line);
  const also = [...unfinished, ...damaged.map(() => ({ kind: "damaged" }))];
  const spent = sumsWords(sums);
  process.stdout.write(
    `${counted(held.length, "attempt")}${countWords(also)}${spent === undefined ? "" : `; ${spent}`}\n`,
  );
  return 0;
}

/** What the list says of a record; the verdict is of the newest report with its submission. */
function listed(
  one: HeldRecord,
  { records, state }: AttemptPlace,
  reports: ReturnType<typeof rememberingReports>,
) {
  const { digest, record } = one;
  const { slot, axes, outputs } = record;
  const scored = { slot, axes, submission: outputs.submission?.digest ?? null, budgetMs: null };
  const { ledger } = outputs;
  const read = ledger && readLedger(join(state.attempts, "records", digest, ledger.file));
  const who = typeof read === "object" && read.person?.id;
  return {
    ...one,
    current: records.currentIn(slot) === digest,
    ...(records.undecidedWith(one).includes(digest) && { undecided: true as const }),
    ...(records.thinned().files.has(digest) && { thinned: true as const }),
    verdict: attemptScores(state.results, scored, reports)?.verdict ?? null,
    ledger: typeof read === "object" ? read : undefined,
    ...(who && { person: personName(String(record.axes.agent), who, readPeople(state)) }),
  };
}

type Listed = ReturnType<typeof listed>;

function recordLine(listed: Listed): object {
  const { digest, record, current, undecided, origin, ledger, verdict, decisions, thinned, person } = listed;
  const { slot, ran, cost } = record;
  const spent = { ended: ledger?.ended ?? null, tokens: ledger?.tokens ?? null };
  const made = {
    ...(origin && { origin }),
    ...(undecided && { undecided }),
    ...(decisions && { decisions }),
    ...(thinned && { thinned }),
    ...(person && { person }),
    ...(record.interventions && { interventions: record.interventions }),
  };
  return { event: "attempt", record: digest, current, slot, ran, cost, verdict, ...spent, ...made };
}

/** `wait`: what it waits for now. */
function printUnfinished(
  { kind, name, card, cost, words }: Unrecorded,
  wait: ReturnType<typeof shownWait> | undefined,
): void {
  const why = `${words === "" ? "" : `; ${words}`}${kind === "running" ? "" : `; cost ${amountWords(cost)}`}`;
  const { slot, startedAt } = card;
  process.stdout.write(
    `${oneLine(`${kind.padEnd(12)}  ${startedAt}  ${slot.pipeline} (${slot.profile})  ${slot.stage}  ${name}${why}`)}\n`,
  );
  if (wait) process.stdout.write(`${"".padEnd(12)}  ${oneLine(shownWaitText(wait, Date.now()))}\n`);
}

function rowOf(one: Listed): AttemptRow {
  const { ledger } = one;
  const { slot, ran, cost } = one.record;
  return {
    digest: one.digest,
    startedAt: ran.startedAt,
    durationMs: ran.durationMs,
    ended: ledger?.ended ?? null,
    usedModel: Boolean(ledger?.usage),
    tokens: ledger?.tokens ?? null,
    gpuHours: cost.gpuHours,
    dollars: ledger?.dollars ?? cost.dollars,
    slot: `${slot.pipeline} (${slot.profile})`,
    stage: slot.stage,
    standing: standingText(one),
  };
}

/** An attempt of any state, if it has the state and pipeline of the options and fits one of the words. */
function filterOf(wanted: string[], { pipeline, state }: ListOptions) {
  const patterns = wanted.map((word) => ({ word, matches: stageMatcher(word) }));
  return (kind: string, name: string, slot: { pipeline: string; stage: string }): boolean =>
    (state ?? kind) === kind &&
    (pipeline ?? slot.pipeline) === slot.pipeline &&
    (patterns.length === 0 ||
      patterns.some(({ word, matches }) => name.startsWith(word) || matches(slot.stage)));
}

/** `imported, unsigned; not used: it competes; undecided`; a pass of the current record made here is not said. */
function standingText(one: Listed): string {
  const { origin, current, undecided, verdict, decisions = [] } = one;
  const use = undecided ? "not used: it competes" : current ? "" : origin ? "not used" : "older";
  const decided = decisions
    .filter(({ counts }) => counts)
    .map(({ rule, verdict: answer, by }) => `${rule} decided ${answer} by ${plainText(by)}`);
  const made = origin ? madeText(origin) : "";
  const people = interventionText(one.record);
  const thin = one.thinned ? "thinned" : "";
  const judged = verdict === "pass" ? "" : verdict;
  return [one.person, made, use, people, thin, judged, ...decided].filter(Boolean).join("; ");
}

function countWords(unfinished: { kind: string }[]): string {
  const counts = Map.groupBy(unfinished, ({ kind }) => kind);
  return [...counts].map(([kind, of]) => `, ${of.length} ${kind}`).join("");
}
