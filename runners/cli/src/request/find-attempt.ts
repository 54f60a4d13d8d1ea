// Finds the attempt that a user names: by the beginning of a record's digest or of the ID of a running or lost
// attempt, or by a stage pattern. Of several attempts of one stage instance, the newest; imported records that are
// not used come last, because they may state any date.

import { join } from "node:path";
import { matcher } from "@mlrb/core/plan/select-instances";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { type AttemptFolder, attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import { AttemptRecords, type HeldRecord } from "@mlrb/local/records/attempt-records";
import { Store } from "@mlrb/local/store/artifact-store";
import { type StateFolder, stateFolder } from "@mlrb/local/store/state-folder";
import { VerifiedContents } from "@mlrb/local/store/verified-contents";
import { isUnusedImport } from "../attempts/competing-records.ts";
import { isNamed } from "./find-running.ts";
import { rootFolder } from "./root-folder.ts";
import { typedProgram } from "./typed-program.ts";

export type FoundAttempt =
  | { kind: "record"; digest: string; record: AttemptRecord; folder: string }
  | { kind: "running" | "lost"; attempt: AttemptFolder };

export type AttemptPlace = { state: StateFolder; records: AttemptRecords };

export function attemptPlace(repository: string, root: string | undefined): AttemptPlace {
  const state = stateFolder(rootFolder(repository, root));
  const records = new AttemptRecords(state.attempts, {
    store: new Store(state.blobs),
    verified: new VerifiedContents(state.memory),
  });
  return { state, records };
}

/** A text is the reason that there is not exactly one, with its help. */
export function findAttempt(what: string, { state, records }: AttemptPlace): FoundAttempt | string {
  if (/^[0-9a-f]{1,64}$/.test(what)) {
    const found = records.list().filter((digest) => digest.startsWith(what));
    const [digest] = found;
    if (found.length === 1) return foundRecord({ digest: digest!, record: records.read(digest!) }, state);
    if (found.length > 1)
      return `unknown-attempt: ${found.length} attempts' digests begin with "${what}"\n  help: give more characters; \`${typedProgram()} attempts list\` shows them`;
  }
  const matches = matcher(what);
  const means = ({ slot, axes }: Pick<AttemptRecord, "slot" | "axes">) =>
    matches(slot.stage.replace(/\[.*$/, ""), axes);
  const all = [...records.readable().map((one) => foundRecord(one, state)), ...unrecorded(state)];
  const named = all.filter((one) => one.kind !== "record" && isNamed(one.attempt, what));
  const wanted = named.length > 0 ? named : all.filter((one) => means(cardOf(one)));
  const stages = [...new Set(wanted.map((one) => cardOf(one).slot.stage))].sort();
  if (stages.length === 0)
    return `unknown-attempt: no attempt's digest or ID begins with "${what}", and no attempt's stage matches it\n  help: \`${typedProgram()} attempts list\` shows all ${all.length}`;
  if (stages.length > 1) {
    const more = stages.length > 5 ? `, and ${stages.length - 5} more` : "";
    return `several-attempts: "${what}" matches ${stages.length} stages\n  help: one of ${stages.slice(0, 5).join(", ")}${more}`;
  }
  const dated = wanted.filter((one) => one.kind !== "record" || !isUnusedImport(one, records));
  return (dated.length > 0 ? dated : wanted).sort(byStart).at(-1)!;
}

/** Running, ended and not kept yet, or lost. */
function unrecorded(state: StateFolder): FoundAttempt[] {
  const going = attemptFolders(state.running).map(
    (attempt): FoundAttempt => ({ kind: attempt.state.kind === "lost" ? "lost" : "running", attempt }),
  );
  const lost = attemptFolders(join(state.attempts, "lost")).map(
    (attempt): FoundAttempt => ({ kind: "lost", attempt }),
  );
  return [...going, ...lost];
}

/** The newest attempt of each of these stage instances that was made here, and not imported. */
export function newestAttempts(
  stages: string[],
  { state, records }: AttemptPlace,
): Map<string, FoundAttempt> {
  const kept = stages
    .flatMap((stage) => records.readable(undefined, { stage }))
    .filter(({ origin }) => !origin)
    .map((one) => foundRecord(one, state));
  const byAge = [...kept, ...unrecorded(state)].sort(byStart);
  return new Map(byAge.map((one) => [cardOf(one).slot.stage, one]));
}

export function foundRecord(
  { digest, record }: HeldRecord,
  { attempts }: Pick<StateFolder, "attempts">,
): FoundAttempt {
  return { kind: "record", digest, record, folder: join(attempts, "records", digest) };
}

function cardOf(found: FoundAttempt): Pick<AttemptRecord, "slot" | "axes"> {
  return found.kind === "record" ? found.record : found.attempt.card;
}

function byStart(a: FoundAttempt, b: FoundAttempt): number {
  return startedAt(a) < startedAt(b) ? -1 : 1;
}

function startedAt(found: FoundAttempt): string {
  return found.kind === "record" ? found.record.ran.startedAt : found.attempt.card.startedAt;
}
