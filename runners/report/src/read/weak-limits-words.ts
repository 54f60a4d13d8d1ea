// The mark of attempts whose sandbox had limits that no kernel held. Tables of attempts say what was weak.
import type { WeakLimits } from "@mlrb/formats/attempt/weak-limits";

type Limited = { weakLimits?: WeakLimits };

/** Follows an attempt under weak limits. */
export const weakMark = "§";

const words: Record<WeakLimits[number], string> = {
  "no-sandbox": "no sandbox: nothing limited an untrusted agent",
  memory: "memory limit only polled",
  disk: "disk limit only polled",
  "not-recorded": "limits of the sandbox not recorded",
};

/** `memory limit only polled, disk limit only polled`; empty if the kernel held all limits. */
export function weakLimitsText({ weakLimits = [] }: Limited): string {
  return weakLimits.map((limit) => words[limit]).join(", ");
}
