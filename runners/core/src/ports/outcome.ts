// How a stage instance ended. A union, so that "not run", "failed" and "our fault" are never a number.
import type { FailureCause } from "@mlrb/formats/stage/outcome";

export type Outcome =
  | { kind: "succeeded" }
  | { kind: "reused" }
  | { kind: "failed"; cause: FailureCause; detail: string }
  | { kind: "skipped"; because: string }
  | { kind: "cancelled" };

export type OutcomeKind = Outcome["kind"];

/** One sentence for a report or a progress line, without clock, host or path. Empty for success. */
export function outcomeCause(outcome: Outcome): string {
  switch (outcome.kind) {
    case "succeeded":
    case "reused":
      return "";
    case "failed":
      return `${outcome.cause}: ${outcome.detail}`;
    case "skipped":
      return `needs ${outcome.because}`;
    case "cancelled":
      return "the run was ended before it";
    default:
      return unreachable(outcome);
  }
}

/** Makes the compiler prove that a switch is finished. */
export function unreachable(value: never): never {
  throw new Error(`bug: unexpected ${JSON.stringify(value)}`);
}
