// The format of an attempt's ledger: what it used of its budget. Its supervisor writes it beside the trajectory,
// which it seals. Readers: kit's `readLedger`, which also knows what older ledgers leave out.
import {
  anyText,
  count,
  fileFormat,
  listOf,
  nullable,
  oneOf,
  openObject,
  type TypeOf,
  tableOf,
} from "../schema.ts";
import { usedPrice } from "./used-price.ts";

const amount = { type: "number", minimum: 0 } as const;

const ending = {
  ...oneOf(
    "finished",
    "submitted",
    "gave-up",
    "silent",
    "time-limit",
    "agent-error",
    "token-limit",
    "dollar-limit",
    "turn-limit",
    "refusal",
    "interrupted",
  ),
  description:
    "finished: a program ended by itself and well, or there was none (in older records also submitted, gave-up and silent). Of a scaffold's model: submitted; gave-up: stopped working without submitting; silent: said nothing at all. agent-error: a non-zero exit or a signal, measured like any other end. interrupted: ended from outside before its end, never on record.",
} as const;

const estimatedSpending = {
  ...openObject(
    {
      calls: { ...count, description: "calls and tries" },
      answers: { ...count, description: "of them those that were answered" },
      inputTokens: amount,
      outputTokens: amount,
      dollars: { ...nullable(amount), description: "null: no price is known" },
    },
    ["calls", "answers", "inputTokens", "outputTokens", "dollars"],
  ),
  description:
    "upper estimates for calls whose usage is not known, or in part: limits count them, the sums beside do not hold them. Absent in records of older harnesses.",
} as const;

export const modelSpending = openObject(
  {
    calls: count,
    failedTries: { ...count, description: "tries that gave no answer" },
    uncounted: {
      ...count,
      description: "calls and tries without a known usage: what they took is not in the sums",
    },
    inputTokens: amount,
    outputTokens: amount,
    cachedInputTokens: { ...amount, description: "of inputTokens, as far as the provider tells" },
    reasoningTokens: { ...amount, description: "of outputTokens, as far as the provider tells" },
    estimated: estimatedSpending,
  },
  [
    "calls",
    "failedTries",
    "uncounted",
    "inputTokens",
    "outputTokens",
    "cachedInputTokens",
    "reasoningTokens",
  ],
);

export const waitedMs = {
  ...tableOf(amount),
  description: "all waits by reason, whether the deadline moved or not",
} as const;

export const attemptLedger = openObject(
  {
    formatVersion: { const: 1 },
    budget: openObject(
      {
        wallMs: { ...amount, description: "of working time: without waits the two are the same" },
        tokens: amount,
        dollars: amount,
      },
      ["wallMs"],
    ),
    wallMs: {
      ...amount,
      description: "from the start of the agent's program to its end, by a monotonic clock",
    },
    workingMs: {
      ...amount,
      description:
        "wall time without waits for which everything inside was frozen; absent in older ledgers: wallMs",
    },
    tokens: {
      ...nullable(amount),
      description:
        "in and out of all model calls; null: the harness saw none, or some are not known (see usage)",
    },
    dollars: { ...nullable(amount), description: "null: no price or usage is known for some of the calls" },
    prices: {
      ...listOf(usedPrice),
      description:
        "by which dollars and estimates were counted; absent where no call had one, and in older ledgers",
    },
    usage: {
      ...nullable(modelSpending),
      description: "of model calls; absent or null where the harness saw none",
    },
    waitedMs,
    gpuHours: amount,
    gpuBusyMs: {
      ...nullable(amount),
      description:
        "ms in which its GPUs computed, of all of them together; null: not known; absent in older ledgers",
    },
    ended: ending,
    exit: {
      ...nullable({
        anyOf: [
          openObject({ code: { type: "integer" } }, ["code"]),
          openObject({ signal: anyText }, ["signal"]),
        ],
      }),
      description: "how the agent's program ended, where it ended by itself",
    },
    over: {
      ...openObject({ limit: oneOf("memory", "disk", "processes"), detail: anyText }, ["limit", "detail"]),
      description: "a limit of its sandbox that it met, whatever it made of that",
    },
    submission: openObject(
      {
        digest: anyText,
        files: count,
        bytes: count,
        leftOut: {
          ...listOf(openObject({ path: anyText, why: anyText }, ["path", "why"])),
          description: "what was not taken (links, devices, odd names …) and why; bounded",
        },
        overLimits: {
          ...nullable(anyText),
          description: "why nothing was taken although something was there; null otherwise",
        },
      },
      ["digest", "files", "bytes", "leftOut", "overLimits"],
    ),
    trajectory: {
      ...openObject({ lines: count, head: anyText }, ["lines", "head"]),
      description: "lines of the trajectory and the digest of its last one: with them a cut end is seen",
    },
  },
  [
    "formatVersion",
    "budget",
    "wallMs",
    "tokens",
    "dollars",
    "gpuHours",
    "ended",
    "exit",
    "submission",
    "trajectory",
  ],
);

const { gpuHours, dollars } = attemptLedger.properties;
/** All that a record needs of a ledger: a stage of one's own may give no more than this. */
export const ledgerCost = openObject({ gpuHours, dollars }, []);

/** Of a submission that no agent made. */
export const noAttempt = openObject({ none: { ...anyText, description: "why there was no attempt" } }, [
  "none",
]);

export const ledgerFile = fileFormat("mlrb ledger", { anyOf: [noAttempt, attemptLedger] });

/** A ledger as `readLedger` gives it, with what older ones leave out. */
export type Ledger = TypeOf<typeof attemptLedger> & { workingMs: number; gpuBusyMs: number | null };
export type ModelSpending = TypeOf<typeof modelSpending>;
export type EstimatedSpending = TypeOf<typeof estimatedSpending>;
