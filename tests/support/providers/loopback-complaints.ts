// Errors of OpenAI and Anthropic: statuses, codes and messages from their references and from users' reports.
// Sources: https://platform.openai.com/docs/guides/error-codes, https://docs.claude.com/en/api/errors
import type { Complaint } from "./loopback-reply.ts";

type Complained = { status: number; type: string; code?: string | null; message: string };

export function openaiComplaint(complaint: Complaint, model: string): { status: number; body: unknown } {
  const { status, type, code, message } = inOpenaiWords(complaint, model);
  return { status, body: { error: { message, type, param: null, code: code ?? null } } };
}

export function anthropicComplaint(complaint: Complaint, model: string): { status: number; body: unknown } {
  const { status, type, message } = inAnthropicWords(complaint, model);
  return { status, body: { type: "error", error: { type, message }, request_id: "req_loopback" } };
}

function inOpenaiWords(complaint: Complaint, model: string): Complained {
  const invalid = "invalid_request_error";
  switch (complaint) {
    case "rate-limit":
      return {
        status: 429,
        type: "tokens",
        code: "rate_limit_exceeded",
        message: `Rate limit reached for ${model} in organization org-loopback on tokens per min (TPM): Limit 30000, Used 29990, Requested 812. Please try again in 1.604s. Visit https://platform.openai.com/account/rate-limits to learn more.`,
      };
    case "no-money":
      return {
        status: 429,
        type: "insufficient_quota",
        code: "insufficient_quota",
        message: "You exceeded your current quota, please check your plan and billing details.",
      };
    case "overloaded":
      return {
        status: 503,
        type: "server_error",
        message: "The engine is currently overloaded, please try again later",
      };
    case "server-error":
      return {
        status: 500,
        type: "server_error",
        message: "The server had an error while processing your request. Sorry about that!",
      };
    case "wrong-key":
      return {
        status: 401,
        type: invalid,
        code: "invalid_api_key",
        message:
          "Incorrect API key provided: sk-wrong. You can find your API key at https://platform.openai.com/account/api-keys.",
      };
    case "forbidden":
      return {
        status: 403,
        type: "request_forbidden",
        code: "unsupported_country_region_territory",
        message: "Country, region, or territory not supported",
      };
    case "unknown-model":
      return {
        status: 404,
        type: invalid,
        code: "model_not_found",
        message: `The model \`${model}\` does not exist or you do not have access to it.`,
      };
    case "retired-model":
      return {
        status: 404,
        type: invalid,
        code: "model_not_found",
        message: `The model \`${model}\` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations`,
      };
    case "too-long":
      return {
        status: 400,
        type: invalid,
        code: "context_length_exceeded",
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 131022 tokens. Please reduce the length of the messages.",
      };
    case "bad-request":
      return {
        status: 400,
        type: invalid,
        message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
      };
    case "policy":
      return {
        status: 400,
        type: invalid,
        code: "invalid_prompt",
        message:
          "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.",
      };
  }
}

function inAnthropicWords(complaint: Complaint, model: string): Complained {
  const invalid = "invalid_request_error";
  switch (complaint) {
    case "rate-limit":
      return {
        status: 429,
        type: "rate_limit_error",
        message:
          "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
      };
    case "no-money":
      return {
        status: 400,
        type: invalid,
        message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
      };
    case "overloaded":
      return { status: 529, type: "overloaded_error", message: "Overloaded" };
    case "server-error":
      return { status: 500, type: "api_error", message: "Internal server error" };
    case "wrong-key":
      return { status: 401, type: "authentication_error", message: "invalid x-api-key" };
    case "forbidden":
      return {
        status: 403,
        type: "permission_error",
        message: "Your API key does not have permission to use the specified resource.",
      };
    case "unknown-model":
    case "retired-model":
      return { status: 404, type: "not_found_error", message: `model: ${model}` };
    case "too-long":
      return { status: 400, type: invalid, message: "prompt is too long: 208310 tokens > 200000 maximum" };
    case "bad-request":
      return { status: 400, type: invalid, message: "messages: roles must alternate" };
    case "policy":
      return { status: 400, type: invalid, message: "Output blocked by content filtering policy" };
  }
}
