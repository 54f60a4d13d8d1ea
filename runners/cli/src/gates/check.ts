// One thing that was looked at on this machine: it works, or it is missing with the way out, or neither.
import type { Diagnostic, Place } from "@mlrb/core/yaml/diagnostic";

/** `code` and `place`: of what refuses a run. */
export type Check = {
  name: string;
  answer: "works" | "note" | "missing";
  found: string;
  help?: string;
  code?: string;
  place?: Place;
};

export function works(name: string, found: string): Check {
  return { name, answer: "works", found };
}

export function note(name: string, found: string, help?: string): Check {
  return { name, answer: "note", found, ...(help !== undefined && { help }) };
}

export function missing(
  name: string,
  found: string,
  help: string,
  more: Pick<Check, "code" | "place"> = {},
): Check {
  return { name, answer: "missing", found, help, ...more };
}

/** What a run says of the checks that stop it. */
export function refusals(checks: Check[]): Diagnostic[] {
  return checks
    .filter(({ answer }) => answer === "missing")
    .map(({ name, found, help, code = name, place }) => ({
      ...{ code, message: found },
      ...(place && { place }),
      ...(help !== undefined && { help }),
    }));
}
