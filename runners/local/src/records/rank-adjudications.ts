// Decides which of several decisions on a rule of one attempt counts. Decisions that were made here, or that a
// person preferred here, win; of these the last line counts. An imported decision counts only where its record
// came from the same source: then the attempt's numbers rest on that source anyway. Dates decide nothing. Pure: no
// disk, no clock.

import type { Adjudication, MemberDecision } from "@mlrb/formats/attempt/adjudication";
import type { RecordOrigin } from "@mlrb/formats/attempt/record-origin";

/** The decisions on one record, in the order of their lines. `record`: where it came from; undefined if it was made here. */
export function decisionsOf(lines: readonly Adjudication[], record?: Source): MemberDecision[] {
  const unique = withoutRepeats(lines, record);
  const byRule = Map.groupBy(unique, ({ rule }) => rule);
  const counting = new Set(
    [...byRule.values()].map((own) => own.findLast(isTrusted) ?? own.findLast((one) => isFrom(one, record))),
  );
  return unique.map((one) => {
    const { rule, verdict, by, reason, origin } = one;
    const from = origin && ({ kind: "imported", signedBy: origin.signedBy } as const);
    return { rule, verdict, by, reason, counts: counting.has(one), ...(from && { origin: from }) };
  });
}

type Source = Pick<RecordOrigin, "archive" | "signingKey">;

function isFrom({ origin }: Adjudication, record: Source | undefined): boolean {
  return record !== undefined && origin !== undefined && sourceOf(origin) === sourceOf(record);
}

/** What adding `line` to the lines of the same decision would change: nothing if one of them weighs as much. */
export function addsWeight(line: Adjudication, before: readonly Adjudication[], record?: Source): boolean {
  if (line.preferred) return !before.some(({ origin }) => origin === undefined);
  return before.every((one) => weight(one, record) < weight(line, record));
}

function sourceOf({ signingKey, archive }: Source): string {
  return signingKey ?? archive;
}

/** What makes two lines one decision, whichever machine wrote them. */
export function decisionKey({ record, decidedAt, rule, verdict, by, reason }: Adjudication): string {
  return JSON.stringify([record, decidedAt, rule, verdict, by, reason]);
}

function isTrusted({ origin, preferred }: Adjudication): boolean {
  return origin === undefined || preferred === true;
}

/** The line with the most weight of each decision. */
function withoutRepeats(lines: readonly Adjudication[], record: Source | undefined): Adjudication[] {
  const found = new Map<string, Adjudication>();
  for (const line of lines) {
    const key = decisionKey(line);
    const before = found.get(key);
    if (before && !addsWeight(line, [before], record)) continue;
    // a preference is a decision of its own, so its place is that of its line; a signature is not
    if (line.preferred) found.delete(key);
    found.set(key, line);
  }
  return [...found.values()];
}

/** Made here, preferred here, from the record's own source, signed, unsigned. */
function weight(line: Adjudication, record: Source | undefined): number {
  if (line.origin === undefined) return 4;
  if (line.preferred) return 3;
  return isFrom(line, record) ? 2 : line.origin.signedBy !== null ? 1 : 0;
}
