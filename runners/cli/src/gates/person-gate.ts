// Attempts of people start by `attempts human` only: a run has no terminal for them.
import { attemptFields } from "@mlrb/formats/declared/agent-preset";
import { type Check, missing } from "./check.ts";
import { type Asked, quoted } from "./gate.ts";

/** Set by `attempts human` in the run that it starts. */
export const personVariable = "MLRB_PERSON";

export function personGate({ starts, host: { env } }: Pick<Asked, "starts" | "host">): Check[] {
  const people = starts.filter(
    ({ stage, action }) => stage.durable && attemptFields(action.params).kind === "person",
  );
  if (people.length === 0 || env[personVariable]) return [];
  const help =
    "a person starts each with `pnpm pipeline attempts human --task NAME --seed NUMBER`; or leave them out with --set";
  const found = `no person has made ${quoted(people.map(({ id }) => id))}`;
  return [missing("people", found, help, { code: "no-person" })];
}
