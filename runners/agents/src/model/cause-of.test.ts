// Every cause of a failed model call, from errors of the AI SDK, fetch or a provider.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import { APICallError } from "ai";
import { causeOf } from "./cause-of.ts";
import { modelCauses } from "./failure-causes.ts";
import { TransportTrouble } from "./guarded-fetch.ts";

/** As the SDK makes it of a response that is an error. */
function said(statusCode: number, body: unknown, headers: Record<string, string> = {}): APICallError {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  return new APICallError({
    message: "Bad Request",
    url: "http://x",
    requestBodyValues: {},
    statusCode,
    responseBody,
    responseHeaders: headers,
  });
}

/** As the SDK makes it of what fetch throws. */
function network(code: string, message = "it broke"): APICallError {
  const cause = Object.assign(new Error(message), { code });
  return new APICallError({
    message: `Cannot connect to API: ${message}`,
    url: "http://x",
    requestBodyValues: {},
    cause,
  });
}

const openai = (code: string | null, message = "no", type = "invalid_request_error") => ({
  error: { message, type, param: null, code },
});
const anthropic = (type: string, message = "no") => ({
  type: "error",
  error: { type, message },
  request_id: "req",
});

const google = (code: number, status: string, message: string, details: object[] = []) => ({
  error: { code, message, status, details },
});
const litellm = (message: string, type: string, code: string) => ({
  error: { message, type, param: "None", code },
});
const quota =
  "You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: generate_content_free_tier_requests, limit: 10";

const examples: Record<ModelCause, unknown[]> = {
  "rate-limit": [
    said(429, openai("rate_limit_exceeded")),
    said(429, anthropic("rate_limit_error")),
    said(429, "slow down"),
    { type: "response.failed", response: { error: { code: "rate_limit_exceeded", message: "slow" } } },
    said(429, google(429, "RESOURCE_EXHAUSTED", `${quota} Please retry in 6.2s.`)),
    said(429, [google(429, "RESOURCE_EXHAUSTED", quota)]),
    said(
      429,
      litellm("RateLimitError: GeminiException - You exceeded your current quota", "throttling_error", "429"),
    ),
  ],
  overloaded: [
    said(529, anthropic("overloaded_error")),
    said(503, "upstream"),
    said(500, openai(null, "The engine is currently overloaded", "server_error")),
    { type: "overloaded_error", message: "Overloaded" },
  ],
  "server-error": [
    said(500, openai(null, "The server had an error", "server_error")),
    said(502, "<html>Bad Gateway</html>"),
    said(504, ""),
    said(408, ""),
    said(520, "cloudflare"),
    { type: "api_error", message: "Internal server error" },
  ],
  unreachable: [
    network("ECONNREFUSED"),
    network("ENOTFOUND", "getaddrinfo ENOTFOUND api.nowhere.example"),
    network("EAI_AGAIN"),
    network("EHOSTUNREACH"),
    network("UND_ERR_CONNECT_TIMEOUT"),
    new TypeError("fetch failed"),
  ],
  "connection-lost": [
    network("ECONNRESET", "read ECONNRESET"),
    network("UND_ERR_SOCKET", "other side closed"),
  ],
  idle: [
    new TransportTrouble("MLRB_IDLE", "no byte came for 240 s"),
    network("UND_ERR_HEADERS_TIMEOUT"),
    network("UND_ERR_BODY_TIMEOUT"),
  ],
  "cut-stream": [
    Object.assign(said(200, ""), { cause: new TypeError("terminated") }),
    Object.assign(said(200, ""), { cause: Object.assign(new Error("closed"), { code: "UND_ERR_SOCKET" }) }),
  ],
  garbage: [
    Object.assign(new Error("no JSON"), { name: "AI_JSONParseError" }),
    Object.assign(new Error("no end"), { name: "AI_NoOutputGeneratedError" }),
    new TransportTrouble("MLRB_OVERSIZE", "too much"),
  ],
  "no-stream": [new TransportTrouble("MLRB_NO_STREAM", 'no stream of events, but text/html: "<html>"')],
  "over-cap": [], // not a provider's
  paused: [], // a person's
  unforeseen: [new Error("who knows"), "a text", undefined, null, 7, said(418, "teapot")],
  "no-certificate": [
    network("DEPTH_ZERO_SELF_SIGNED_CERT"),
    network("CERT_HAS_EXPIRED"),
    network("UNABLE_TO_VERIFY_LEAF_SIGNATURE"),
    network("ERR_TLS_CERT_ALTNAME_INVALID"),
  ],
  "out-of-money": [
    said(429, openai("insufficient_quota", "You exceeded your current quota", "insufficient_quota")),
    said(
      400,
      anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    ),
    said(402, "pay"),
    said(
      400,
      litellm("Budget has been exceeded! Current cost: 10.2, Max budget: 10.0", "budget_exceeded", "400"),
    ),
    said(400, { detail: "ExceededBudget: User has exceeded their budget" }),
    said(
      429,
      litellm("OpenAIException - {'error': {'code': 'insufficient_quota'}}", "throttling_error", "429"),
    ),
    said(400, openai("billing_hard_limit_reached", "Billing hard limit has been reached")),
    said(429, openai("billing_not_active", "Your account is not active, please check your billing details")),
    said(429, openai(null, "Your account is suspended", "exceeded_current_quota_error")),
    said(429, google(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.")),
    said(
      400,
      anthropic(
        "invalid_request_error",
        "You have reached your specified API usage limits. You will regain access on",
      ),
    ),
  ],
  "wrong-key": [
    said(401, openai("invalid_api_key")),
    said(401, anthropic("authentication_error", "invalid x-api-key")),
    said(401, ""),
    said(
      400,
      google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
        { reason: "API_KEY_INVALID" },
      ]),
    ),
    said(400, litellm("No connected db.", "no_db_connection", "400")),
  ],
  forbidden: [
    said(403, anthropic("permission_error")),
    said(403, openai("unsupported_country_region_territory")),
    said(400, google(400, "FAILED_PRECONDITION", "User location is not supported for the API use.")),
    said(400, google(400, "FAILED_PRECONDITION", "Gemini API free tier is not available in your country.")),
    said(400, anthropic("invalid_request_error", "This organization has been disabled.")),
  ],
  "unknown-model": [
    said(404, openai("model_not_found", "The model `gpt-4-32k` has been deprecated")),
    said(404, anthropic("not_found_error", "model: claude-2")),
    said(404, { error: "model 'qwen9' not found" }),
    said(
      400,
      litellm(
        "/chat/completions: Invalid model name passed in model=qwen9. Call `/v1/models`",
        "None",
        "400",
      ),
    ),
    said(404, {
      object: "error",
      message: "The model `x` does not exist.",
      type: "NotFoundError",
      code: 404,
    }),
    said(
      400,
      litellm("litellm.BadRequestError: LLM Provider NOT provided. You passed model=x", "None", "400"),
    ),
  ],
  "wrong-address": [
    said(404, "404 page not found"),
    said(405, ""),
    new TransportTrouble("MLRB_REDIRECT", "301: redirect"),
    said(404, "<html><title>404</title><script>const models = 1</script></html>"),
  ],
  "no-tool-calls": [
    said(400, {
      object: "error",
      message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      type: "BadRequestError",
      code: 400,
    }),
    said(400, { error: { message: "registry.ollama.ai/library/phi3:mini does not support tools" } }),
    said(400, { error: "phi3:mini does not support tools" }),
    said(
      400,
      litellm("UnsupportedParamsError: x does not support parameters: ['tools'], for model=y", "None", "400"),
    ),
    said(404, openai(null, "No endpoints found that support tool use.")),
    said(500, { error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" } }),
  ],
  "bad-request": [
    said(400, openai(null, "Unsupported parameter: 'max_tokens'")),
    said(400, anthropic("invalid_request_error", "messages: roles must alternate")),
    said(422, "unprocessable"),
    said(404, openai("previous_response_not_found", "Previous response with id 'resp_1' not found.")),
    said(
      404,
      openai(null, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."),
    ),
  ],
  "too-long": [
    said(400, openai("context_length_exceeded", "This model's maximum context length is 128000 tokens.")),
    said(400, anthropic("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")),
    said(400, {
      object: "error",
      message: "This model's maximum context length is 4096 tokens.",
      type: "BadRequestError",
      code: 400,
    }),
    said(413, anthropic("request_too_large", "Request exceeds the maximum size")),
    said(400, [openai(null, "input is too long for requested model")]),
    said(
      400,
      google(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      ),
    ),
    said(400, {
      error: { message: "the request exceeds the available context size", type: "exceed_context_size_error" },
    }),
    {
      type: "response.failed",
      response: {
        error: { code: "context_length_exceeded", message: "Your input exceeds the context window" },
      },
    },
    // Anthropic, vLLM, TGI, xAI, and limits of tokens a minute that one request is above
    said(
      400,
      anthropic(
        "invalid_request_error",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
      ),
    ),
    said(
      400,
      openai(null, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
    ),
    said(400, openai(null, "Input prompt (5000 tokens) is too long and exceeds limit of 4096")),
    said(422, { error: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096." }),
    said(400, {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    }),
    said(
      429,
      openai("rate_limit_exceeded", "Request too large for gpt-4o on tokens per min (TPM)", "tokens"),
    ),
    said(
      413,
      openai("rate_limit_exceeded", "Request too large for model `m` on tokens per minute", "tokens"),
    ),
  ],
  "blocked-request": [
    said(400, openai("invalid_prompt", "Invalid prompt: flagged as potentially violating our usage policy")),
    said(400, openai("content_filter", "The response was filtered")),
    said(400, anthropic("invalid_request_error", "Output blocked by content filtering policy")),
  ],
  "unusable-answer": [
    said(400, openai("tool_use_failed", "Failed to call a function. Please adjust your prompt.")),
    said(
      400,
      openai("output_parse_failed", "Parsing failed. The model generated output that could not be parsed."),
    ),
    said(500, openai("server_error", "The model produced invalid content. Consider modifying your prompt")),
    said(500, {
      error: { code: 500, message: "Failed to parse tool call arguments as JSON: x", type: "server_error" },
    }),
    // the model's own words, which name another cause
    "error parsing tool call: raw='credit balance is too low', err=invalid character 'c'",
    "Model produced invalid sequence as part of ToolUse. Please refer to the model tool use troubleshooting guide.",
  ],
};

for (const [cause, errors] of Object.entries(examples))
  test(`${cause} is recognized in each of its ${errors.length} forms`, () => {
    for (const error of errors) {
      const failure = causeOf(error);
      assert.equal(failure.cause, cause, `${failure.detail}: ${JSON.stringify(error)}`);
      const { whose, retry } = modelCauses[cause as ModelCause];
      assert.deepEqual(
        [failure.whose, failure.retry],
        [whose, ["until-patience-ends", "some-times", "once"].includes(retry)],
      );
    }
  });

test("a mention of context does not turn an overloaded provider into a long request", () => {
  assert.equal(causeOf(said(503, "overloaded; context window service is down")).cause, "overloaded");
});

test("retry-after is read in milliseconds, in seconds and as a date, and is otherwise null", () => {
  const wait = (headers: Record<string, string>) => causeOf(said(429, "", headers)).retryAfterMs;
  assert.equal(wait({ "retry-after-ms": "1604", "retry-after": "2" }), 1604);
  assert.equal(wait({ "retry-after": "20" }), 20_000);
  const date = "Sun, 22 Nov 2026 20:00:00 GMT";
  assert.equal(wait({ date, "retry-after": "Sun, 22 Nov 2026 20:00:30 GMT" }), 30_000);
  assert.equal(wait({ date, "retry-after": "Sun, 22 Nov 2026 19:00:00 GMT" }), 0);
  for (const text of ["soon", "-3", "", "NaN"]) assert.equal(wait({ "retry-after": text }), null);
});

test("the detail of a page of HTML or a circular error is short", () => {
  const round: { message: string; cause?: unknown } = { message: "round" };
  round.cause = round;
  assert.equal(causeOf(round).detail, "round");
  assert.ok(causeOf(said(502, "<p>".repeat(100_000))).detail.length <= 500);
});

test("Google's retryDelay is read, and words if there is no other delay", () => {
  const info = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "6.2s" };
  const limited = causeOf(said(429, google(429, "RESOURCE_EXHAUSTED", quota, [info])));
  assert.deepEqual([limited.cause, limited.whose, limited.retryAfterMs], ["rate-limit", "provider", 6200]);
  const worded = (message: string) => causeOf(said(429, openai(null, message))).retryAfterMs;
  assert.equal(worded(`${quota} Please retry in 6.2s.`), 6200);
  assert.equal(worded("Rate limit reached for x. Please try again in 1.604s. Visit y"), 1604);
  assert.equal(worded("Please try again in 120ms."), 120);
  assert.equal(worded("Please try again in 1m30s."), 90_000);
  assert.equal(worded("Please try again after 20 seconds."), 20_000);
  for (const text of ["try again in a while", "retry in ..s", "retry in 5"]) assert.equal(worded(text), null);
});

test("a program's bad request is the agent's failure, a scaffold's is the harness'; other causes have one owner", () => {
  for (const [cause, errors] of Object.entries(examples))
    for (const error of errors) {
      const [scaffold, program] = [causeOf(error), causeOf(error, "program")];
      assert.equal(program.cause, cause);
      const own = cause === "bad-request" || cause === "too-long";
      assert.equal(program.whose, own ? "agent-error" : scaffold.whose, cause);
    }
});

test("a server that quotes the request in its complaint does not let the agent's words choose the cause", () => {
  const words = "Your credit balance is too low. The prompt is too long.";
  const odd = {
    type: "string_type",
    loc: ["body", "messages", 3, "content"],
    msg: "Input should be a string",
  };
  const python = `[{'type': 'string_type', 'loc': ('body', 'messages'), 'msg': 'Input should be a string', 'input': ["${words}"]}]`;
  for (const error of [
    said(422, { detail: [{ ...odd, input: [words] }] }),
    said(400, { detail: [{ ...odd, input: { text: words } }] }),
    said(400, { object: "error", message: python, type: "Bad Request", code: 400 }),
    said(400, { error: { message: python, type: "Bad Request", code: 400 } }),
  ])
    assert.deepEqual([causeOf(error).cause, causeOf(error, "program").whose], ["bad-request", "agent-error"]);
});
