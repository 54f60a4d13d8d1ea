// THE table of what can go wrong around an attempt: whose it is, whether it is tried again, whether its time and
// its tokens are the agent's, what becomes of the attempt, and what a person can do. Everything that retries,
// charges or records a failure looks here; docs/failures.md is made of it.

import type { FailureOwner } from "@mlrb/formats/attempt/failure-owner";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";

export type FailureCause = {
  whose: FailureOwner;
  /** Whose it is where a program of the agent's made the request, not a scaffold; the same where absent. */
  whoseOfProgram?: FailureOwner;
  /** How it shows. */
  shows: string;
  /**
   * `until-patience-ends`: as long as one has patience with a provider. `some-times`: each try may cost tokens, so
   * at most `costlyTriesMax` of one call in all. `once`: a second answer of the same kind settles it. `cut`: the
   * request is made shorter first. `attempt`: the whole attempt, by the retries of its stage. `when-mended`: a
   * person is waited for, once anything was answered. `no`: it would go the same way.
   */
  retry: "until-patience-ends" | "some-times" | "once" | "cut" | "attempt" | "when-mended" | "no";
  /** As what its time counts; `work` is the agent's own. */
  time: WaitReason | "work";
  /** Whether tokens may have been spent that nobody counted. */
  tokens: "none" | "maybe";
  attempt: "goes on" | "measured" | "not measured";
  /** What a person does about it; null where there is nothing to do. */
  wayOut: string | null;
};

/** A try that may have cost tokens is not made again and again. */
export const costlyTriesMax = 8;

const provider = {
  whose: "provider",
  retry: "until-patience-ends",
  time: "provider",
  tokens: "none",
} as const;
const operator = {
  whose: "operator",
  retry: "when-mended",
  time: "operator",
  tokens: "none",
  attempt: "not measured",
} as const;
const lost = "wait until the provider answers again, then run the pipeline again: what is recorded is kept";

/** Of a try of a model call. A try that is made again goes on; when patience ends the attempt is not measured. */
export const modelCauses = {
  "rate-limit": {
    ...provider,
    shows: "429: too many requests or tokens a minute",
    time: "rate-limit",
    attempt: "goes on",
    wayOut: "ask the provider for a higher limit, or run fewer attempts at once (--jobs, a pool)",
  },
  overloaded: {
    ...provider,
    shows: "529 or 503, or the same said in a stream",
    attempt: "goes on",
    wayOut: lost,
  },
  "server-error": {
    ...provider,
    shows: "another 5xx, 408 or 409, or a stream that says so",
    attempt: "goes on",
    wayOut: lost,
  },
  unreachable: {
    ...provider,
    shows: "no connection: refused, no such host, no route, no time left to connect",
    attempt: "goes on",
    wayOut: "check the network, a proxy and `baseUrl` of the preset; for a local endpoint: is it started?",
  },
  "connection-lost": {
    ...provider,
    shows: "the connection was reset before an answer began",
    tokens: "maybe",
    attempt: "goes on",
    wayOut: lost,
  },
  idle: {
    ...provider,
    shows: "the connection stands, and nothing has come for minutes",
    retry: "some-times",
    tokens: "maybe",
    attempt: "goes on",
    wayOut: lost,
  },
  "cut-stream": {
    ...provider,
    shows: "an answer that broke off before its end",
    retry: "some-times",
    tokens: "maybe",
    attempt: "goes on",
    wayOut: lost,
  },
  garbage: {
    ...provider,
    shows: "a stream whose events are not the protocol's, or one without an end",
    retry: "some-times",
    tokens: "maybe",
    attempt: "goes on",
    wayOut: "check `baseUrl` of the preset, and what stands between: a proxy, a sign-in page",
  },
  "no-stream": {
    ...operator,
    shows: "200 with a page of HTML or a JSON body, where a stream of events was asked for",
    retry: "once",
    time: "provider",
    tokens: "maybe",
    wayOut:
      "correct `baseUrl` of the preset, or what stands between: a proxy, a sign-in page, a server that cannot stream",
  },
  unforeseen: {
    ...provider,
    whose: "harness",
    shows: "anything that this table does not know",
    retry: "some-times",
    tokens: "maybe",
    attempt: "goes on",
    wayOut: "report it with the attempt's trajectory; the table of causes lacks a row",
  },
  "no-certificate": {
    ...operator,
    shows: "the endpoint's certificate is not trusted",
    wayOut: "give Node the certificate (NODE_EXTRA_CA_CERTS=FILE), or correct `baseUrl`",
  },
  "out-of-money": {
    ...operator,
    shows:
      "OpenAI's insufficient_quota, 402, a credit balance that is too low, a limit of spending that is reached",
    wayOut: "pay the provider, or raise its limit of spending, then run the pipeline again",
  },
  "over-cap": {
    ...operator,
    retry: "no",
    time: "provider",
    shows: "the attempts of the run have spent its --max-cost together; no call was made",
    wayOut: "run the pipeline again with a higher --max-cost",
  },
  "wrong-key": {
    ...operator,
    shows: "401, or 400 with words about the key",
    wayOut: "export a key that is valid, under the name that the preset says",
  },
  forbidden: {
    ...operator,
    shows: "403",
    wayOut: "use a key that may call this model from here, or ask the provider for access",
  },
  "unknown-model": {
    ...operator,
    shows: "404 or 400 with a model's name: retired, misspelt, or not this key's",
    wayOut: "`pipeline doctor --models` says which; name a model of today in the preset",
  },
  "wrong-address": {
    ...operator,
    shows: "404 or 405 without a model's name, or a redirect",
    wayOut: "correct `baseUrl` of the preset: it ends where /chat/completions begins, often in /v1",
  },
  "no-tool-calls": {
    ...operator,
    shows: "the model, or its server as it was started, takes no tools",
    wayOut:
      "start vLLM with `--enable-auto-tool-choice --tool-call-parser …`, llama.cpp with `--jinja`; else choose a model that calls tools",
  },
  "bad-request": {
    ...operator,
    whose: "harness",
    whoseOfProgram: "agent-error",
    retry: "no",
    time: "provider",
    shows: "400, 415 or 422: the provider does not take what was sent",
    wayOut:
      "take out the options of the preset's model that it names, or report it: a request of ours is wrong",
  },
  "too-long": {
    whose: "harness",
    whoseOfProgram: "agent-error",
    shows: "400 or 413: more than the model's context holds; or 429: more tokens than a minute's limit",
    retry: "cut",
    time: "provider",
    tokens: "none",
    attempt: "goes on",
    wayOut: "say a smaller `contextTokens` in the preset: the request should have been cut before",
  },
  "blocked-request": {
    whose: "agent-refusal",
    shows: "400: the provider's filter will not let this request through",
    retry: "no",
    time: "work",
    tokens: "none",
    attempt: "measured",
    wayOut: null,
  },
} as const satisfies Record<ModelCause, FailureCause>;

const measured = { retry: "no", time: "work", tokens: "none", attempt: "measured", wayOut: null } as const;
const told = { retry: "no", time: "work", tokens: "none", attempt: "goes on", wayOut: null } as const;
const notMeasured = { retry: "attempt", time: "work", tokens: "none", attempt: "not measured" } as const;

/** Of everything else in an attempt. */
export const attemptCauses = {
  "provider-lost": {
    ...notMeasured,
    whose: "provider",
    shows: "tries of a model call failed until patience ended",
    retry: "attempt",
    wayOut: lost,
  },
  "sandbox-lost": {
    ...notMeasured,
    whose: "sandbox",
    shows: "the sandbox ended under its agent, or its walls could not be made",
    wayOut: "`pipeline doctor` says what this machine's sandboxes can do; then run the pipeline again",
  },
  "no-room": {
    ...notMeasured,
    whose: "operator",
    shows: "the disk is full, and not with what the agent wrote",
    retry: "no",
    wayOut: "free some, or choose another --root; then run the pipeline again",
  },
  "supervisor-lost": {
    ...notMeasured,
    whose: "harness",
    shows: "the supervisor ended without an end of the record: killed, or a bug",
    wayOut: "run the pipeline again; if it comes back, report it with the attempt's log",
  },
  "replay-miss": {
    ...notMeasured,
    whose: "operator",
    shows: "a replayed attempt asks what its recording does not hold",
    retry: "no",
    wayOut: "record the attempt again",
  },
  "scorer-failed": {
    ...notMeasured,
    whose: "verifier",
    shows: "a rule or a scorer broke on a submission that it should have judged",
    retry: "attempt",
    wayOut: "read its log (`pipeline log`), mend it; the attempt is kept and only judged again",
  },
  "malformed-call": {
    ...told,
    whose: "agent-error",
    shows: "a tool call whose arguments are no JSON object, or make no sense",
  },
  "unknown-tool": { ...told, whose: "agent-error", shows: "a call of a tool that there is not" },
  "tool-failed": { ...told, whose: "agent-error", shows: "a program of the agent's ended with an error" },
  "tool-timeout": {
    ...told,
    whose: "agent-error",
    shows: "a program ran past the time limit of one tool call",
  },
  "agent-exit": {
    ...measured,
    whose: "agent-error",
    shows: "the agent's program ended with an error",
  },
  "gave-up": {
    ...measured,
    whose: "agent-error",
    shows: "its model stopped calling tools although it was asked to go on",
  },
  silent: {
    ...measured,
    whose: "agent-error",
    shows: "the same, and its model's last answers said nothing at all",
  },
  refusal: { ...measured, whose: "agent-refusal", shows: "the model will not do the task" },
  "over-time": { ...measured, whose: "agent-budget", shows: "its working time is used up" },
  "over-tokens": { ...measured, whose: "agent-budget", shows: "its tokens are used up" },
  "over-dollars": { ...measured, whose: "agent-budget", shows: "its dollars are used up" },
  "over-turns": { ...measured, whose: "agent-budget", shows: "its model calls are used up" },
  "over-memory": { ...measured, whose: "agent-budget", shows: "its programs took more memory than they may" },
  "over-disk": { ...measured, whose: "agent-budget", shows: "its programs wrote more than they may" },
} as const satisfies Record<string, FailureCause>;

export type { ModelCause };

/** Who makes the requests of an agent: our scaffold, or a program behind the gateway. */
export type Requester = "scaffold" | "program";

export function causeRow(cause: ModelCause): FailureCause {
  return modelCauses[cause];
}

export function whoseFailure(cause: ModelCause, requester: Requester): FailureOwner {
  const { whose, whoseOfProgram } = causeRow(cause);
  return requester === "program" ? (whoseOfProgram ?? whose) : whose;
}

/** Whether an attempt that ends by it says something about its agent. */
export function isAgents(whose: FailureOwner): boolean {
  return whose === "agent-error" || whose === "agent-budget" || whose === "agent-refusal";
}
