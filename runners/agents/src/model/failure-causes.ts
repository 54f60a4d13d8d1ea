// The one table of what can go wrong with a model call: whose failure it is, whether it is tried again, how its
// time and tokens count, and what a person can do. Everything that retries, charges or records such a failure
// reads this table. docs/failures.md prints it, with the symptoms.

import type { FailureOwner } from "@mlrb/formats/attempt/failure-owner";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";

export type FailureCause = {
  whose: FailureOwner;
  /** The owner if a program of the agent made the request, not a scaffold; the same if absent. */
  whoseOfProgram?: FailureOwner;
  /**
   * `until-patience-ends`: as long as `limits.providerWait`. `some-times`: a try may cost tokens, so at most
   * `costlyTriesMax` of one call. `once`: a second such answer settles it. `cut`: the request is made shorter
   * first. `when-mended`: a person is awaited, once anything was answered. `no`: another try would fail in the
   * same way.
   */
  retry: "until-patience-ends" | "some-times" | "once" | "cut" | "when-mended" | "no";
  /** How its time counts; `work` is the agent's own. */
  time: WaitReason | "work";
  /** Whether it may have cost tokens that were not counted. */
  tokens: "none" | "maybe";
  /** What a person can do; null if nothing. */
  wayOut: string | null;
};

/** Tries of one call that may cost tokens. */
export const costlyTriesMax = 8;

const provider: FailureCause = {
  whose: "provider",
  retry: "until-patience-ends",
  time: "provider",
  tokens: "none",
  wayOut: "wait until the provider answers again, then run the pipeline again; recorded attempts are kept",
};
const costlyTry: FailureCause = { ...provider, retry: "some-times", tokens: "maybe" };
const operator = (wayOut: string): FailureCause => ({
  ...{ whose: "operator", retry: "when-mended", time: "operator", tokens: "none", wayOut },
});
const agent: FailureCause = {
  whose: "agent-error",
  retry: "no",
  time: "work",
  tokens: "maybe",
  wayOut: null,
};

/** Of a try of a model call. With another try the attempt goes on; when patience ends it is not measured. */
export const modelCauses: Record<ModelCause, FailureCause> = {
  "rate-limit": {
    ...provider,
    time: "rate-limit",
    wayOut: "ask the provider for a higher limit, or run fewer attempts at once (--jobs, a pool)",
  },
  overloaded: provider,
  "server-error": provider,
  unreachable: {
    ...provider,
    wayOut: "check the network, a proxy and `baseUrl` of the preset; for a local endpoint: is it started?",
  },
  "connection-lost": { ...provider, tokens: "maybe" },
  idle: costlyTry,
  "cut-stream": costlyTry,
  garbage: {
    ...costlyTry,
    wayOut: "check `baseUrl` of the preset, and a proxy or sign-in page in between",
  },
  "no-stream": {
    ...operator(
      "correct `baseUrl` of the preset, or what is in between: a proxy, a sign-in page, a server that cannot stream",
    ),
    ...{ retry: "once", time: "provider", tokens: "maybe" },
  },
  unforeseen: {
    ...costlyTry,
    whose: "harness",
    wayOut: "report it with the attempt's trajectory; the table of causes lacks a row",
  },
  "no-certificate": operator("give Node the certificate (NODE_EXTRA_CA_CERTS=FILE), or correct `baseUrl`"),
  "out-of-money": operator("pay the provider or raise its spending limit, then run the pipeline again"),
  "over-cap": {
    ...operator("run the pipeline again with a higher --max-cost"),
    ...{ retry: "no", time: "provider" },
  },
  paused: operator("`pipeline attempts resume` continues it"),
  "wrong-key": operator("export a valid key under the name in the preset"),
  forbidden: operator("use a key that may call this model from here, or ask the provider for access"),
  "unknown-model": operator("`pipeline doctor --models` shows which; name a current model in the preset"),
  "wrong-address": operator(
    "correct `baseUrl` of the preset: it ends before /chat/completions, often in /v1",
  ),
  "no-tool-calls": operator(
    "start vLLM with `--enable-auto-tool-choice --tool-call-parser …`, llama.cpp with `--jinja`; or choose a model that calls tools",
  ),
  "bad-request": {
    ...{ whose: "harness", whoseOfProgram: "agent-error", retry: "no", time: "provider", tokens: "none" },
    wayOut:
      "remove the options that the error names from the preset's model, or report it: the harness sent a wrong request",
  },
  "too-long": {
    ...{ whose: "harness", whoseOfProgram: "agent-error", retry: "cut", time: "provider", tokens: "none" },
    wayOut:
      "set `contextTokens` in the preset to the model's context, so that requests are cut before, or choose a model with a longer one",
  },
  "blocked-request": { ...agent, whose: "agent-refusal", tokens: "none" },
  "unusable-answer": agent,
};

/** Whether an attempt that ends by such a failure is a measurement of its agent. */
export function isAgents(whose: FailureOwner): boolean {
  return whose === "agent-error" || whose === "agent-budget" || whose === "agent-refusal";
}
