// The format of an attempt's ledger: what it used of its budget. The supervisor writes it next to the trajectory
// and seals the trajectory with it. kit's `readLedger` reads it.

import { interventionSums } from "../declared/intervention.ts";
import * as t from "../schema.ts";
import { ledgerPerson } from "./person.ts";
import { exit, ordinal } from "./trajectory-event.ts";
import { usedPrice } from "./used-price.ts";

const ending = t.about(
  t.oneOf(
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
  "finished: a program ended by itself with exit 0, or there was no program. Scaffolds: submitted; gave-up: stopped without submitting; silent: the model said nothing. agent-error: a non-zero exit or a signal, measured like any other end. interrupted: ended from outside, never on record.",
);

const estimatedSpending = t.about(
  t.wholeObject({
    calls: t.about(t.count, "calls and tries"),
    answers: t.about(t.count, "of these, the answered ones whose usage is unknown"),
    inputTokens: t.amount,
    outputTokens: t.amount,
    dollars: t.about(t.nullable(t.amount), "null: no price is known"),
  }),
  "upper estimates for calls whose usage or price is unknown or partly known. Limits count them; the sums next to this field do not.",
);

const reachedWithoutNetwork = t.about(
  t.wholeObject({
    calls: t.count,
    what: t.about(t.listOf(t.anyText), "fields and types of the answers that show it; bounded"),
  }),
  "answers which show that a provider searched, fetched a page or ran a tool, though the attempt has no network; absent without one",
);

export const servedModel = t.wholeExcept(["fingerprint"], {
  provider: t.anyText,
  model: t.about(t.anyText, "the requested model"),
  answeredBy: t.about(t.nullable(t.anyText), "the model that answered, as the provider names it"),
  fingerprint: t.about(
    t.anyText,
    "the provider's name for the model's configuration (system_fingerprint); absent without one",
  ),
  calls: t.about(t.count, "answered calls"),
});

export const replayFacts = t.about(
  t.wholeObject({
    recording: t.about(
      t.oneOf("recorded", "authored"),
      "recorded: of an attempt of a model; authored: written by people, no model was called",
    ),
    tools: t.about(
      t.oneOf("recorded", "live"),
      "recorded: results, times and durations are those of the recording; live: the tools ran again",
    ),
  }),
  "of a replay: what answered in place of a model; absent for other attempts",
);

export const modelSpending = t.wholeExcept(["estimated", "reached", "served"], {
  calls: t.count,
  failedTries: t.about(t.count, "tries without an answer"),
  uncounted: t.about(t.count, "calls and tries with unknown usage, which the sums leave out"),
  inputTokens: t.amount,
  outputTokens: t.amount,
  cachedInputTokens: t.about(t.amount, "part of inputTokens, as far as the provider reports it"),
  reasoningTokens: t.about(t.amount, "part of outputTokens, as far as the provider reports it"),
  estimated: estimatedSpending,
  reached: reachedWithoutNetwork,
  served: t.about(
    t.listOf(servedModel),
    "which models answered, in the order of their first answers, at most 20; absent without an answer",
  ),
});

const spent = {
  calls: t.about(t.count, "answered model calls"),
  inputTokens: t.about(t.amount, "as far as the provider reported them"),
  outputTokens: t.amount,
  dollars: t.about(t.nullable(t.amount), "null: some calls have no known price or usage"),
} as const;

const ledgerMember = t.wholeObject({
  name: t.anyText,
  agent: t.about(t.anyText, "its preset"),
  kind: t.oneOf("command", "llm"),
  ...spent,
  waitedMs: t.about(
    t.amount,
    "recorded waits of its own; those of the whole team are in the waitedMs of the attempt",
  ),
  messages: t.about(t.count, "sent"),
  messageCharacters: t.about(t.count, "of the sent messages together"),
  end: t.about(t.anyText, "how it ended, in a few words"),
});

const talking = t.about(
  t.wholeObject(spent),
  "of a team with llm members: their model calls whose answers asked for tools of the message board only",
);

export const waitedMs = t.about(
  t.tableOf(t.amount),
  "all waits by reason, whether the deadline moved or not",
);

export const attemptLedger = t.wholeExcept(
  [
    "machineDollars",
    "prices",
    "waitedMs",
    "gpuMemoryPeakMiB",
    "over",
    "resumed",
    "interventions",
    "replay",
    "members",
    "talking",
    "person",
  ],
  {
    formatVersion: { const: 1 },
    budget: t.wholeExcept(["tokens", "dollars", "machines", "machineDollarsPerHour"], {
      wallMs: t.about(t.amount, "of working time, with extensions; equal to wall time without waits"),
      tokens: t.amount,
      dollars: t.about(t.amount, "of model calls, and of working hours where these have a price"),
      machines: t.about(t.count, "times the machine of other attempts; absent: one"),
      machineDollarsPerHour: t.about(t.amount, "the stated price of a working hour of its machines"),
    }),
    wallMs: t.about(t.amount, "from the start of the agent's program to its end, by a monotonic clock"),
    workingMs: t.about(t.amount, "wall time without the waits in which the sandbox was frozen"),
    tokens: t.about(
      t.nullable(t.amount),
      "input and output of all model calls; null: no call was seen, or some are unknown (see usage)",
    ),
    dollars: t.about(
      t.nullable(t.amount),
      "null: some calls have no known price or usage, or the agent had a network and made no counted call",
    ),
    machineDollars: t.about(
      t.amount,
      "working hours at the stated price, which a limit in dollars counts; not in `dollars`. Absent without a price",
    ),
    prices: t.about(
      t.listOf(usedPrice),
      "the prices behind dollars and estimates; absent if no call had a price",
    ),
    usage: t.about(t.nullable(modelSpending), "of model calls; null if the harness saw none"),
    waitedMs,
    gpuHours: t.amount,
    gpuBusyMs: t.about(
      t.nullable(t.amount),
      "ms in which its GPUs computed, summed over GPUs; null: unknown",
    ),
    gpuMemoryPeakMiB: t.about(
      t.amount,
      "MiB, the most memory in use on one of its GPUs, by polls of nvidia-smi; absent if unknown",
    ),
    ended: ending,
    exit: t.about(exit, "how the agent's program ended, if it ended by itself"),
    over: t.about(
      t.wholeObject({ limit: t.oneOf("memory", "disk", "processes"), detail: t.anyText }),
      "a limit of its sandbox that it reached",
    ),
    resumed: t.about(
      ordinal,
      "how often the attempt continued after its supervisor or host died; absent if never",
    ),
    interventions: interventionSums,
    members: t.about(
      t.listOf(ledgerMember),
      "of a team; calls lost by a restart are in the sums of the attempt only",
    ),
    talking,
    person: ledgerPerson,
    replay: replayFacts,
    submission: t.wholeObject({
      digest: t.anyText,
      files: t.count,
      bytes: t.count,
      leftOut: t.about(
        t.listOf(t.wholeObject({ path: t.anyText, why: t.anyText })),
        "what was left out (links, devices, odd names …) and why; bounded",
      ),
      overLimits: t.about(
        t.nullable(t.anyText),
        "why nothing was taken although there were files; null otherwise",
      ),
    }),
    trajectory: t.about(
      t.wholeObject({ lines: t.count, head: t.anyText }),
      "number of lines of the trajectory and digest of the last one: they reveal a cut end",
    ),
  },
);

const { gpuHours, dollars, replay } = attemptLedger.properties;
/** The part of a ledger that a record needs. A user's own durable stage may write only this. */
export const ledgerCost = t.openObject({ gpuHours, dollars, replay }, []);

/** The ledger of a submission without an attempt. */
export const noAttempt = t.wholeObject({ none: t.about(t.anyText, "why there was no attempt") });

export const ledgerFile = t.fileFormat("mlrb ledger", { anyOf: [noAttempt, attemptLedger] });

export type Ledger = t.TypeOf<typeof attemptLedger>;
export type LedgerMember = t.TypeOf<typeof ledgerMember>;
export type ServedModel = t.TypeOf<typeof servedModel>;
export type ModelSpending = t.TypeOf<typeof modelSpending>;
export type EstimatedSpending = t.TypeOf<typeof estimatedSpending>;
