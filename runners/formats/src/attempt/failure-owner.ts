import { oneOf, type TypeOf } from "../schema.ts";

/** Who is responsible for a failure. Only the last three are the agent's; they are measured. */
export const failureOwner = oneOf(
  "sandbox",
  "provider",
  "harness",
  "verifier",
  "operator",
  "agent-error",
  "agent-budget",
  "agent-refusal",
);

export type FailureOwner = TypeOf<typeof failureOwner>;
