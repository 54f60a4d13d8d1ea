// Why a try of a model call can fail, by the names that trajectories hold. The table of what follows from each is
// runners/agents/src/model/failure-causes.ts.
import * as t from "../schema.ts";

export const modelCause = t.oneOf(
  "rate-limit",
  "overloaded",
  "server-error",
  "unreachable",
  "connection-lost",
  "idle",
  "cut-stream",
  "garbage",
  "no-stream",
  "unforeseen",
  "no-certificate",
  "out-of-money",
  "over-cap",
  "paused",
  "wrong-key",
  "forbidden",
  "unknown-model",
  "wrong-address",
  "no-tool-calls",
  "bad-request",
  "too-long",
  "blocked-request",
  "unusable-answer",
);

export type ModelCause = t.TypeOf<typeof modelCause>;
