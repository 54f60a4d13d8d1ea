// The format of an attempt's ledger: what it used of its budget. The supervisor writes it next to the trajectory and
// seals the trajectory with it. kit's `readLedger` reads it.

import { interventionSums } from "../declared/intervention.ts";
import {
  amount,
  anyText,
  count,
  fileFormat,
  listOf,
  nullable,
  oneOf,
  openObject,
  type TypeOf,
  tableOf,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { exit, ordinal } from "./trajectory-event.ts";
import { usedPrice } from "./used-price.ts";

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
    "finished: a program ended by itself with exit 0, or there was no program. Scaffolds: submitted; gave-up: stopped without submitting; silent: the model said nothing. agent-error: a non-zero exit or a signal, measured like any other end. interrupted: ended from outside, never on record.",
} as const;

const estimatedSpending = {
  ...wholeObject({
    calls: { ...count, description: "calls and tries" },
    answers: { ...count, description: "of these, the answered ones whose usage is unknown" },
    inputTokens: amount,
    outputTokens: amount,
    dollars: { ...nullable(amount), description: "null: no price is known" },
  }),
  description:
    "upper estimates for calls whose usage or price is unknown or partly known. Limits count them; the sums next to this field do not.",
} as const;

const reachedWithoutNetwork = {
  ...wholeObject({
    calls: count,
    what: { ...listOf(anyText), description: "fields and types of the answers that show it; bounded" },
  }),
  description:
    "answers which show that a provider searched, fetched a page or ran a tool, though the attempt has no network; absent without one",
} as const;

export const servedModel = wholeExcept(["fingerprint"], {
  provider: anyText,
  model: { ...anyText, description: "the requested model" },
  answeredBy: { ...nullable(anyText), description: "the model that answered, as the provider names it" },
  fingerprint: {
    ...anyText,
    description: "the provider's name for the model's configuration (system_fingerprint); absent without one",
  },
  calls: { ...count, description: "answered calls" },
});

export const modelSpending = wholeExcept(["estimated", "reached", "served"], {
  calls: count,
  failedTries: { ...count, description: "tries without an answer" },
  uncounted: {
    ...count,
    description: "calls and tries with unknown usage, which the sums leave out",
  },
  inputTokens: amount,
  outputTokens: amount,
  cachedInputTokens: { ...amount, description: "part of inputTokens, as far as the provider reports it" },
  reasoningTokens: { ...amount, description: "part of outputTokens, as far as the provider reports it" },
  estimated: estimatedSpending,
  reached: reachedWithoutNetwork,
  served: {
    ...listOf(servedModel),
    description:
      "which models answered, in the order of their first answers, at most 20; absent without an answer",
  },
});

export const waitedMs = {
  ...tableOf(amount),
  description: "all waits by reason, whether the deadline moved or not",
} as const;

export const attemptLedger = wholeExcept(
  ["prices", "waitedMs", "gpuMemoryPeakMiB", "over", "resumed", "interventions"],
  {
    formatVersion: { const: 1 },
    budget: wholeExcept(["tokens", "dollars"], {
      wallMs: {
        ...amount,
        description: "of working time, with extensions; equal to wall time without waits",
      },
      tokens: amount,
      dollars: amount,
    }),
    wallMs: {
      ...amount,
      description: "from the start of the agent's program to its end, by a monotonic clock",
    },
    workingMs: {
      ...amount,
      description: "wall time without the waits in which the sandbox was frozen",
    },
    tokens: {
      ...nullable(amount),
      description:
        "input and output of all model calls; null: no call was seen, or some are unknown (see usage)",
    },
    dollars: {
      ...nullable(amount),
      description:
        "null: some calls have no known price or usage, or the agent had a network and made no counted call",
    },
    prices: {
      ...listOf(usedPrice),
      description: "the prices behind dollars and estimates; absent if no call had a price",
    },
    usage: {
      ...nullable(modelSpending),
      description: "of model calls; null if the harness saw none",
    },
    waitedMs,
    gpuHours: amount,
    gpuBusyMs: {
      ...nullable(amount),
      description: "ms in which its GPUs computed, summed over GPUs; null: unknown",
    },
    gpuMemoryPeakMiB: {
      ...amount,
      description:
        "MiB, the most memory in use on one of its GPUs, by polls of nvidia-smi; absent if unknown",
    },
    ended: ending,
    exit: { ...exit, description: "how the agent's program ended, if it ended by itself" },
    over: {
      ...wholeObject({ limit: oneOf("memory", "disk", "processes"), detail: anyText }),
      description: "a limit of its sandbox that it reached",
    },
    resumed: {
      ...ordinal,
      description: "how often the attempt continued after its supervisor or host died; absent if never",
    },
    interventions: interventionSums,
    submission: wholeObject({
      digest: anyText,
      files: count,
      bytes: count,
      leftOut: {
        ...listOf(wholeObject({ path: anyText, why: anyText })),
        description: "what was left out (links, devices, odd names …) and why; bounded",
      },
      overLimits: {
        ...nullable(anyText),
        description: "why nothing was taken although there were files; null otherwise",
      },
    }),
    trajectory: {
      ...wholeObject({ lines: count, head: anyText }),
      description: "number of lines of the trajectory and digest of the last one: they reveal a cut end",
    },
  },
);

const { gpuHours, dollars } = attemptLedger.properties;
/** The part of a ledger that a record needs. A user's own durable stage may write only this. */
export const ledgerCost = openObject({ gpuHours, dollars }, []);

/** The ledger of a submission without an attempt. */
export const noAttempt = wholeObject({ none: { ...anyText, description: "why there was no attempt" } });

export const ledgerFile = fileFormat("mlrb ledger", { anyOf: [noAttempt, attemptLedger] });

export type Ledger = TypeOf<typeof attemptLedger>;
export type ServedModel = TypeOf<typeof servedModel>;
export type ModelSpending = TypeOf<typeof modelSpending>;
export type EstimatedSpending = TypeOf<typeof estimatedSpending>;
