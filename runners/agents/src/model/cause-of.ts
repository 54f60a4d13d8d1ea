// Finds the row of the table of causes for an error of a model call. Providers word the same error in many ways,
// and endpoints with their protocols invent statuses, so codes go first, then statuses, then words. Pure. Codes
// and words: https://platform.openai.com/docs/guides/error-codes, https://docs.claude.com/en/api/errors,
// https://ai.google.dev/gemini-api/docs/troubleshooting, and what vLLM, Ollama, llama.cpp, LiteLLM and Bedrock
// answer.
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import { isTable } from "@mlrb/formats/is-table";
import { modelCauses } from "./failure-causes.ts";
import { parsedJson } from "./json-text.ts";
import type { ModelFailure } from "./model-client.ts";
import { retryAfterMs } from "./retry-after.ts";

/** What makes the requests of an agent: our scaffold, or a program behind the gateway. */
type Requester = "scaffold" | "program";

/** A longer error is cut: some servers answer with a page. */
const detailCharactersMax = 500;

/**
 * `error`: anything that the AI SDK, fetch or a socket threw, or an error in a stream. For a failed answer
 * `{ statusCode, responseHeaders, responseBody }` is enough.
 */
export function causeOf(error: unknown, requester: Requester = "scaffold"): ModelFailure {
  const seen = lookAt(error);
  const cause = causeOfSeen(seen);
  return failureOf(cause, { detail: detailOf(seen), retryAfterMs: retryAfterMs(seen), requester });
}

export function failureOf(
  cause: ModelCause,
  {
    detail,
    retryAfterMs = null,
    requester = "scaffold",
  }: { detail: string; retryAfterMs?: number | null; requester?: Requester },
): ModelFailure {
  const { retry, whose, whoseOfProgram = whose } = modelCauses[cause];
  return {
    cause,
    whose: requester === "program" ? whoseOfProgram : whose,
    detail: detail.slice(0, detailCharactersMax),
    retry: retry === "until-patience-ends" || retry === "some-times" || retry === "once",
    retryAfterMs,
    usage: null,
  };
}

type ErrorDetails = {
  status: number | null;
  headers: Record<string, string>;
  /** Codes and types, of providers and of sockets. */
  codes: string[];
  messages: string[];
  names: string[];
  /** Google's `retryDelay`s. */
  delays: string[];
  /** Whether a provider answered at all, even with an error. */
  answered: boolean;
};

function causeOfSeen({ status, codes, messages, names, answered }: ErrorDetails): ModelCause {
  const words = messages
    .map((one) => one.replace(quoted, ""))
    .join("\n")
    .toLowerCase();
  const code = (...some: string[]) => codes.some((one) => some.includes(one));
  if (code("MLRB_IDLE", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT")) return "idle";
  if (code("MLRB_OVERSIZE")) return "garbage";
  if (code("MLRB_REDIRECT")) return "wrong-address";
  // first, since the message may quote the model, and the model must not choose the cause by its words
  if (code(...badOutputCodes) || badOutput.test(words)) return "unusable-answer";

  // Google words a limit a minute as "You exceeded your current quota" too: only OpenAI's code means money
  if (code(...noMoney) || status === 402 || outOfMoney.test(words)) return "out-of-money";
  // this request alone exceeds a limit of tokens a minute: a shorter one helps, waiting does not
  if ((status === 429 || status === 413) && /\brequest too large\b/u.test(words)) return "too-long";
  if (code("context_length_exceeded", "string_above_max_length", "request_too_large")) return "too-long";
  const refused = status === null || status === 400 || status === 413 || status === 422;
  if (refused && tooLong.test(words)) return "too-long";
  if (code("invalid_prompt", "content_filter", "content_policy_violation")) return "blocked-request";
  if (refused && /content filtering policy|usage policy|content management policy/u.test(words))
    return "blocked-request";
  if (code("rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED")) return "rate-limit";
  if (code("overloaded_error")) return "overloaded";
  if (code("authentication_error", "invalid_api_key", "API_KEY_INVALID", "UNAUTHENTICATED"))
    return "wrong-key";
  if (status === 400 && /api key not valid|no connected db/u.test(words)) return "wrong-key";
  if (code("permission_error", "PERMISSION_DENIED")) return "forbidden";
  if (status === 400 && forbidden.test(words)) return "forbidden";
  if (noToolCalls.test(words)) return "no-tool-calls";
  if (code("model_not_found", "not_found_error", "DeploymentNotFound")) return "unknown-model";
  if (status === 400 && unknownModel.test(words)) return "unknown-model";

  if (/overloaded/u.test(words) && (status === null || status >= 500)) return "overloaded";
  const known = status === null ? undefined : causeOfStatus(status, words);
  if (known) return known;
  if (code("server_error", "api_error", "timeout_error", "internal_error")) return "server-error";
  if (code("MLRB_NO_STREAM")) return "no-stream";
  if (code("invalid_request_error")) return "bad-request";

  const transport = causeOfTransport(codes, words, answered);
  if (transport) return transport;
  const unreadable = /JSONParse|TypeValidation|InvalidResponseData|NoOutputGenerated|EmptyResponse/u;
  return names.some((name) => unreadable.test(name)) ? "garbage" : "unforeseen";
}

const tooLong = new RegExp(
  [
    "maximum (?:context|prompt|model) length|context window|context length|context size|exceed context limit",
    "(?:prompt|input) (?:\\(\\d+ tokens\\) )?is too long",
    "too many (?:input )?tokens|maximum number of (?:input )?tokens|reduce the length of",
    "`inputs` tokens \\+ `max_new_tokens` must be",
  ].join("|"),
  "u",
);

/** The request, which FastAPI and vLLM quote where it is invalid: an agent must not choose the cause by its words. */
const quoted = /["']input["']\s*:.*/su;

/** Groq. */
const badOutputCodes = ["tool_use_failed", "output_parse_failed", "json_validate_failed"];
/** Ollama; llama.cpp; Bedrock; OpenAI. */
const badOutput =
  /error parsing tool call|failed to parse (?:tool call|input at pos)|invalid sequence as part of tooluse|model produced invalid content/u;

const noMoney = [
  ...["insufficient_quota", "billing_error", "billing_not_active", "billing_hard_limit_reached"],
  ...["budget_exceeded", "exceeded_current_quota_error"],
];
const outOfMoney =
  /\binsufficient_quota\b|credit balance is too low|credits are depleted|billing hard limit|specified (?:workspace )?api usage limits|budget has been exceeded|exceededbudget/u;

/** Google: a location; Anthropic: an organization. */
const forbidden = /location is not supported|free tier is not available|organization has been disabled/u;

const unknownModel =
  /invalid model name|llm provider not provided|there are no healthy deployments|provided model identifier is invalid/u;

/** vLLM; Ollama; LiteLLM and OpenAI; OpenRouter; llama.cpp. */
const noToolCalls =
  /tool choice requires|enable-auto-tool-choice|not support (?:tools\b|tool[ _](?:use|call|choice)|function call|(?:the )?parameters?: \[[^\]]*'tools')|tools? (?:is|are) not supported|support tool use|tools param requires/u;

const statuses: Record<number, ModelCause> = {
  ...{ 400: "bad-request", 415: "bad-request", 422: "bad-request", 401: "wrong-key", 403: "forbidden" },
  ...{ 405: "wrong-address", 408: "server-error", 409: "server-error", 410: "unknown-model" },
  ...{ 413: "too-long", 429: "rate-limit", 503: "overloaded", 529: "overloaded" },
};

/** Statuses below 300 are null here. */
function causeOfStatus(status: number, words: string): ModelCause | undefined {
  if (status === 404) {
    // the conversation refers to something that is gone: the address is right
    if (/\b(?:previous response|item) with id\b/u.test(words)) return "bad-request";
    return /\bmodels?\b/u.test(words) && !/<html|<!doctype/u.test(words) ? "unknown-model" : "wrong-address";
  }
  if (status < 400) return "wrong-address";
  return statuses[status] ?? (status >= 500 ? "server-error" : undefined);
}

function causeOfTransport(codes: string[], words: string, answered: boolean): ModelCause | undefined {
  const code = (pattern: RegExp) => codes.some((one) => pattern.test(one));
  if (code(/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/u)) return "no-certificate";
  const broken = /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_ABORTED)$/u;
  if (code(broken) || /terminated|premature close|socket hang up/u.test(words))
    return answered ? "cut-stream" : "connection-lost";
  const unreachable = /^(?:ECONNREFUSED|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT)/u;
  if (code(unreachable) || /cannot connect to api|fetch failed|bad port/u.test(words)) return "unreachable";
  return undefined;
}

/** Follows `cause` and nested errors for a few steps: a foreign error may contain itself. */
function lookAt(error: unknown): ErrorDetails {
  const seen: ErrorDetails = {
    status: null,
    headers: {},
    codes: [],
    messages: [],
    names: [],
    delays: [],
    answered: false,
  };
  let next: unknown = error;
  for (let step = 0; step < 6 && next !== null && next !== undefined; step++) {
    if (typeof next === "string") {
      seen.messages.push(next);
      break;
    }
    if (typeof next !== "object") break;
    const { name, message, statusCode, responseHeaders, responseBody, cause, data } = next as Record<
      string,
      unknown
    >;
    if (typeof name === "string") seen.names.push(name);
    if (typeof statusCode === "number") seen.status ??= statusCode;
    if (isTable(responseHeaders)) {
      seen.headers = { ...(responseHeaders as Record<string, string>), ...seen.headers };
      seen.answered = true;
    }
    if (typeof message === "string" && message !== "") seen.messages.push(message);
    takeComplaint(next, seen);
    if (isTable(data)) takeComplaint(data, seen);
    if (typeof responseBody === "string" && responseBody !== "") takeBody(responseBody, seen);
    next = cause;
  }
  // fetch reports 200 and then breaks off: that status is no error
  if (seen.status !== null && seen.status < 300) seen.status = null;
  return seen;
}

/** `code` and `type` as the provider wrote them, also inside `error` or `response`. */
function takeComplaint(value: object, seen: ErrorDetails, depth = 0): void {
  const { code, type, status, reason, retryDelay, message, error, response, details } = value as Record<
    string,
    unknown
  >;
  // `status` and `reason` are Google's codes
  for (const word of [code, type, status, reason]) if (typeof word === "string") seen.codes.push(word);
  // vLLM writes its status as a number in the body
  if (typeof code === "number" && code >= 400 && code < 600) seen.status ??= code;
  if (typeof message === "string" && message !== "" && !seen.messages.includes(message))
    seen.messages.push(message);
  if (typeof retryDelay === "string") seen.delays.push(retryDelay);
  if (depth > 2) return;
  if (Array.isArray(details))
    for (const inner of details.slice(0, 8)) if (isTable(inner)) takeComplaint(inner, seen, depth + 1);
  for (const inner of [error, response]) {
    if (isTable(inner)) takeComplaint(inner, seen, depth + 1);
    else if (typeof inner === "string") seen.messages.push(inner);
  }
}

function takeBody(body: string, seen: ErrorDetails): void {
  const read = parsedJson(body);
  // some endpoints wrap the complaint in a list
  const complaint = Array.isArray(read) ? read[0] : read;
  if (isTable(complaint)) {
    const before = seen.messages.length;
    takeComplaint(complaint, seen);
    // FastAPI has no message in the usual place but a `detail`
    if (seen.messages.length > before) return;
  }
  seen.messages.push(body.slice(0, 2000));
}

function detailOf({ status, messages, codes }: ErrorDetails): string {
  const [first = codes[0] ?? "it failed without a message", ...more] = messages;
  const because = more.find((message) => !first.includes(message) && !message.includes(first));
  return `${status === null ? "" : `${status}: `}${first}${because === undefined ? "" : ` (${because})`}`;
}
