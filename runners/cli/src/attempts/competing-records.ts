// Words for records that compete for one attempt: which is current, which are not used until a person decides.
import { originText } from "@mlrb/core/key/reasons";
import type { AttemptRecords, HeldRecord } from "@mlrb/local/records/attempt-records";
import { typedProgram } from "../request/typed-program.ts";

/** Records of one slot or key that a person must decide between. */
export type Conflict = { slot: HeldRecord["record"]["slot"]; current: string | null; undecided: string[] };

/** The conflicts that `records` take part in, each once. */
export function conflictsAmong(held: HeldRecord[], records: AttemptRecords): Conflict[] {
  const conflicts = held.flatMap((one): Conflict[] => {
    const undecided = records.undecidedWith(one);
    if (undecided.length === 0) return [];
    const current = records.find(one.record.attemptKey)?.digest ?? records.currentIn(one.record.slot);
    return [{ slot: one.record.slot, current: current ?? null, undecided }];
  });
  return [...new Map(conflicts.map((one) => [JSON.stringify([one.current, one.undecided]), one])).values()];
}

/** Lines that name a conflict and how to end it. */
export function conflictLines({ slot, current, undecided }: Conflict, records: AttemptRecords): string[] {
  const { pipeline, profile, stage } = slot;
  const which = undecided.map((digest) => recordText(digest, records)).join(", ");
  const state =
    current === null
      ? `none is used: ${which}`
      : `${recordText(current, records)} stays current; not used: ${which}`;
  const uses = undecided.map((digest) => `${typedProgram()} attempts use ${digest.slice(0, 12)}`);
  return [
    `conflict  ${pipeline} (${profile})  ${stage}: ${state}`,
    `          help: compare them with \`${typedProgram()} attempts show DIGEST\`, then choose one: ${uses.join(", or ")}${
      current === null
        ? ""
        : `; \`${typedProgram()} attempts use ${current.slice(0, 12)}\` keeps the current one`
    }`,
  ];
}

/** Whether a record was imported and is not the current one of its slot: its date makes it no newest attempt. */
export function isUnusedImport({ digest, record }: HeldRecord, records: AttemptRecords): boolean {
  return records.originOf(digest) !== undefined && records.currentIn(record.slot) !== digest;
}

/** `3f2a90c1d2e4 (imported, unsigned)` */
export function recordText(digest: string, records: AttemptRecords): string {
  return `${digest.slice(0, 12)} (${madeText(records.originOf(digest))})`;
}

/** Where a record was made, in words. */
export function madeText(origin: HeldRecord["origin"]): string {
  return origin ? `imported, ${originText(origin)}` : "made here";
}
