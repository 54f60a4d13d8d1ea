// How often an attempt on record continued after its supervisor or host died.
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";

/** Undefined if never. */
export function recordedResumes({ ran }: Pick<AttemptRecord, "ran">): number | undefined {
  const times = Number(ran.where?.resumed ?? 0);
  return Number.isSafeInteger(times) && times > 0 ? times : undefined;
}
