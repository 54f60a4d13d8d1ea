// Which limits of an untrusted agent's sandbox the kernel did not hold, from the facts in its record.

import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { WeakLimits } from "@mlrb/formats/attempt/weak-limits";
import { isTable } from "@mlrb/formats/is-table";

/** `record` is of an untrusted stage. Empty if the kernel held all limits, or a person trusts the program. */
export function recordedWeakLimits({ ran, parts }: Pick<AttemptRecord, "ran" | "parts">): WeakLimits {
  if (isTrusted(parts)) return [];
  const { sandbox = "", memoryLimit, diskLimit } = ran.where ?? {};
  if (sandbox === "plain") return ["no-sandbox"];
  // a sandbox has a version once a program ran in it
  if (sandbox === "bubblewrap") return [];
  if (memoryLimit === undefined || diskLimit === undefined) return ["not-recorded"];
  return [
    ...(memoryLimit === "kernel" ? [] : ["memory" as const]),
    ...(diskLimit === "kernel" ? [] : ["disk" as const]),
  ];
}

/** By the content of the preset in the checkout, which is part of the attempt's key; never by its name. */
export function isTrusted({ params }: { params: Record<string, unknown> }): boolean {
  const { kind, trusted } = isTable(params.preset) ? params.preset : params;
  return kind === "nop" || trusted === true;
}
