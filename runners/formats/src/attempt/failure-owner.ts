import * as t from "../schema.ts";

/** Who is responsible for a failure. Only the last three are the agent's; they are measured. */
export const failureOwner = t.oneOf(
  "sandbox",
  "provider",
  "harness",
  "verifier",
  "operator",
  "agent-error",
  "agent-budget",
  "agent-refusal",
);

export type FailureOwner = t.TypeOf<typeof failureOwner>;
