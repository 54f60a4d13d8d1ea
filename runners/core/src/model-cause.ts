// What a try of a model call can fail of: the names that trajectories hold. Whose failure each is, and what follows
// from it, is decided by one table, runners/agents/src/model/failure-causes.ts.

export const modelCauseNames = [
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
  "wrong-key",
  "forbidden",
  "unknown-model",
  "wrong-address",
  "no-tool-calls",
  "bad-request",
  "too-long",
  "blocked-request",
] as const;

export type ModelCause = (typeof modelCauseNames)[number];
