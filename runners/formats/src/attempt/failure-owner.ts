import { oneOf, type TypeOf } from "../schema.ts";

/** Whose failure: the last three are the agent's and are measured, the others are not. */
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
