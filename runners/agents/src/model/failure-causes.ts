// The one table of what can go wrong around an attempt: whose failure it is, whether it is tried again, how its time
// and tokens count, how the attempt ends, and what a person can do. Everything that retries, charges or records a
// failure reads this table. docs/failures.md prints it.

import type { FailureOwner } from "@mlrb/formats/attempt/failure-owner";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";

export type FailureCause = {
  whose: FailureOwner;
  /** The owner if a program of the agent made the request, not a scaffold; the same if absent. */
  whoseOfProgram?: FailureOwner;
  /** How it shows. */
  shows: string;
  /**
   * `until-patience-ends`: as long as `limits.providerWait`. `some-times`: a try may cost tokens, so at most
   * `costlyTriesMax` of one call. `once`: a second such answer settles it. `cut`: the request is made shorter first.
   * `attempt`: the whole attempt, by the retries of its stage. `when-mended`: a person is awaited, once anything was
   * answered. `no`: another try would fail in the same way.
   */
  retry: "until-patience-ends" | "some-times" | "once" | "cut" | "attempt" | "when-mended" | "no";
  /** How its time counts; `work` is the agent's own. */
  time: WaitReason | "work";
  /** Whether it may have cost tokens that were not counted. */
  tokens: "none" | "maybe";
  attempt: "goes on" | "measured" | "not measured";
  /** What a person can do; null if nothing. */
  wayOut: string | null;
};

/** Tries of one call that may cost tokens. */
export const costlyTriesMax = 8;

const providerBack =
  "wait until the provider answers again, then run the pipeline again; recorded attempts are kept";
const provider = {
  whose: "provider",
  retry: "until-patience-ends",
  time: "provider",
  tokens: "none",
  attempt: "goes on",
  wayOut: providerBack,
} as const;
const costlyTry = { ...provider, retry: "some-times", tokens: "maybe" } as const;
const operator = {
  whose: "operator",
  retry: "when-mended",
  time: "operator",
  tokens: "none",
  attempt: "not measured",
} as const;

/** Of a try of a model call. With another try the attempt goes on; when patience ends it is not measured. */
export const modelCauses = {
  "rate-limit": {
    ...provider,
    shows: "429: too many requests or tokens a minute",
    time: "rate-limit",
    wayOut: "ask the provider for a higher limit, or run fewer attempts at once (--jobs, a pool)",
  },
  overloaded: { ...provider, shows: "529 or 503, or the same error in a stream" },
  "server-error": { ...provider, shows: "another 5xx, 408 or 409, or the same error in a stream" },
  unreachable: {
    ...provider,
    shows: "no connection: refused, no such host, no route, or a timeout while connecting",
    wayOut: "check the network, a proxy and `baseUrl` of the preset; for a local endpoint: is it started?",
  },
  "connection-lost": {
    ...provider,
    shows: "the connection was reset before an answer began",
    tokens: "maybe",
  },
  idle: { ...costlyTry, shows: "the connection is open, and no part of an answer has come for minutes" },
  "cut-stream": { ...costlyTry, shows: "an answer that broke off before its end" },
  garbage: {
    ...costlyTry,
    shows: "a stream whose events do not follow the protocol, or one without an end",
    wayOut: "check `baseUrl` of the preset, and a proxy or sign-in page in between",
  },
  "no-stream": {
    ...operator,
    shows: "200 with a page of HTML or a JSON body in place of a stream of events",
    retry: "once",
    time: "provider",
    tokens: "maybe",
    wayOut:
      "correct `baseUrl` of the preset, or what is in between: a proxy, a sign-in page, a server that cannot stream",
  },
  unforeseen: {
    ...costlyTry,
    whose: "harness",
    shows: "anything that is not in this table",
    wayOut: "report it with the attempt's trajectory; the table of causes lacks a row",
  },
  "no-certificate": {
    ...operator,
    shows: "the endpoint's certificate is not trusted",
    wayOut: "give Node the certificate (NODE_EXTRA_CA_CERTS=FILE), or correct `baseUrl`",
  },
  "out-of-money": {
    ...operator,
    shows: "OpenAI's insufficient_quota, 402, a credit balance that is too low, or a spending limit",
    wayOut: "pay the provider or raise its spending limit, then run the pipeline again",
  },
  "over-cap": {
    ...operator,
    retry: "no",
    time: "provider",
    shows: "the attempts of the run have spent its --max-cost together; no call was made",
    wayOut: "run the pipeline again with a higher --max-cost",
  },
  paused: {
    ...operator,
    shows: "a person typed `attempts pause`; no call was made",
    attempt: "goes on",
    wayOut: "`pipeline attempts resume` continues it",
  },
  "wrong-key": {
    ...operator,
    shows: "401, or 400 with words about the key",
    wayOut: "export a valid key under the name in the preset",
  },
  forbidden: {
    ...operator,
    shows: "403",
    wayOut: "use a key that may call this model from here, or ask the provider for access",
  },
  "unknown-model": {
    ...operator,
    shows: "404 or 400 with a model's name: retired, misspelt, or not available to this key",
    wayOut: "`pipeline doctor --models` shows which; name a current model in the preset",
  },
  "wrong-address": {
    ...operator,
    shows: "404 or 405 without a model's name, or a redirect",
    wayOut: "correct `baseUrl` of the preset: it ends before /chat/completions, often in /v1",
  },
  "no-tool-calls": {
    ...operator,
    shows: "the model, or its server with its current options, takes no tools",
    wayOut:
      "start vLLM with `--enable-auto-tool-choice --tool-call-parser …`, llama.cpp with `--jinja`; or choose a model that calls tools",
  },
  "bad-request": {
    ...operator,
    whose: "harness",
    whoseOfProgram: "agent-error",
    retry: "no",
    time: "provider",
    shows: "400, 415 or 422: the provider does not accept the request",
    wayOut:
      "remove the options that the error names from the preset's model, or report it: the harness sent a wrong request",
  },
  "too-long": {
    whose: "harness",
    whoseOfProgram: "agent-error",
    shows: "400 or 413: more than the model's context; or 429: more tokens than a minute's limit",
    retry: "cut",
    time: "provider",
    tokens: "none",
    attempt: "goes on",
    wayOut:
      "set `contextTokens` in the preset to the model's context, so that requests are cut before, or choose a model with a longer one",
  },
  "blocked-request": {
    whose: "agent-refusal",
    shows: "400: the provider's filter blocks this request",
    retry: "no",
    time: "work",
    tokens: "none",
    attempt: "measured",
    wayOut: null,
  },
  "unusable-answer": {
    whose: "agent-error",
    shows: "an error about what the model wrote: the server could not read its tool call",
    retry: "no",
    time: "work",
    tokens: "maybe",
    attempt: "goes on",
    wayOut: null,
  },
} as const satisfies Record<ModelCause, FailureCause>;

const measured = { retry: "no", time: "work", tokens: "none", attempt: "measured", wayOut: null } as const;
const ofTools = { ...measured, whose: "agent-error", attempt: "goes on" } as const;
const ofAgent = { ...measured, whose: "agent-error" } as const;
const ofBudget = { ...measured, whose: "agent-budget" } as const;
const notMeasured = { retry: "attempt", time: "work", tokens: "none", attempt: "not measured" } as const;

/** Of everything else in an attempt. */
export const attemptCauses = {
  "provider-lost": {
    ...notMeasured,
    whose: "provider",
    shows: "tries of a model call failed until patience ended",
    wayOut: providerBack,
  },
  "sandbox-lost": {
    ...notMeasured,
    whose: "sandbox",
    shows: "the sandbox ended while its agent was running, or could not be opened",
    wayOut: "`pipeline doctor` shows what this machine's sandboxes can do; then run the pipeline again",
  },
  "no-room": {
    ...notMeasured,
    whose: "operator",
    shows: "the disk is full, and the agent's files are not the reason",
    retry: "no",
    wayOut: "free disk space, or choose another --root; then run the pipeline again",
  },
  "supervisor-lost": {
    ...notMeasured,
    whose: "harness",
    shows: "the supervisor ended before it closed the record: killed, or a bug",
    wayOut: "run the pipeline again; if it happens again, report it with the attempt's log",
  },
  "replay-miss": {
    ...notMeasured,
    whose: "operator",
    shows: "a replayed attempt sends a request that its recording does not hold",
    retry: "no",
    wayOut: "record the attempt again",
  },
  "scorer-failed": {
    ...notMeasured,
    whose: "verifier",
    shows: "a rule or a scorer failed on a submission that it should have judged",
    wayOut: "read its log (`pipeline log`) and fix it; the attempt is kept and only judged again",
  },
  "malformed-call": {
    ...ofTools,
    shows: "a tool call whose arguments are no JSON object, or do not fit the tool",
  },
  "unknown-tool": { ...ofTools, shows: "a call of a tool that does not exist" },
  "tool-failed": { ...ofTools, shows: "a program of the agent ended with an error" },
  "tool-timeout": { ...ofTools, shows: "a program ran past the time limit of one tool call" },
  "agent-exit": { ...ofAgent, shows: "the agent's program ended with an error" },
  "gave-up": { ...ofAgent, shows: "its model stopped calling tools although it was asked to continue" },
  silent: { ...ofAgent, shows: "the same, and its model's last answers had no text" },
  refusal: { ...measured, whose: "agent-refusal", shows: "the model refuses the task" },
  "over-time": { ...ofBudget, shows: "its working time is used up" },
  "over-tokens": { ...ofBudget, shows: "its tokens are used up" },
  "over-dollars": { ...ofBudget, shows: "its dollars are used up" },
  "over-turns": { ...ofBudget, shows: "its model calls are used up" },
  "over-memory": { ...ofBudget, shows: "its programs took more memory than they may" },
  "over-disk": { ...ofBudget, shows: "its programs wrote more than they may" },
} as const satisfies Record<string, FailureCause>;

export type { ModelCause };

/** What makes the requests of an agent: our scaffold, or a program behind the gateway. */
export type Requester = "scaffold" | "program";

export function causeRow(cause: ModelCause): FailureCause {
  return modelCauses[cause];
}

export function whoseFailure(cause: ModelCause, requester: Requester): FailureOwner {
  const { whose, whoseOfProgram } = causeRow(cause);
  return requester === "program" ? (whoseOfProgram ?? whose) : whose;
}

/** Whether an attempt that ends by such a failure is a measurement of its agent. */
export function isAgents(whose: FailureOwner): boolean {
  return whose === "agent-error" || whose === "agent-budget" || whose === "agent-refusal";
}
