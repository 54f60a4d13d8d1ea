// Words a refusal of the gateway as an error of the provider's protocol, so the program's client handles it like one.
// Pure.
import type { GatewayProtocol } from "./gateway-provider.ts";

export type Refusal = { status: number; detail: string };

/** Types of errors by status. Anthropic: platform.claude.com/docs/en/api/errors; OpenAI: platform.openai.com/docs/guides/error-codes; Google: google.rpc.Code. */
const types: Record<number, { anthropic: string; openai: string; google: string }> = {
  400: { anthropic: "invalid_request_error", openai: "invalid_request_error", google: "INVALID_ARGUMENT" },
  401: { anthropic: "authentication_error", openai: "invalid_request_error", google: "UNAUTHENTICATED" },
  402: { anthropic: "billing_error", openai: "insufficient_quota", google: "RESOURCE_EXHAUSTED" },
  403: { anthropic: "permission_error", openai: "invalid_request_error", google: "PERMISSION_DENIED" },
  404: { anthropic: "not_found_error", openai: "invalid_request_error", google: "NOT_FOUND" },
  413: { anthropic: "request_too_large", openai: "invalid_request_error", google: "INVALID_ARGUMENT" },
  429: { anthropic: "rate_limit_error", openai: "rate_limit_exceeded", google: "RESOURCE_EXHAUSTED" },
  502: { anthropic: "api_error", openai: "server_error", google: "UNAVAILABLE" },
};

export function providerError(protocol: GatewayProtocol, { status, detail }: Refusal): string {
  const type = (types[status] ?? types[400]!)[protocol];
  const message = `mlrb gateway: ${detail}`;
  switch (protocol) {
    case "anthropic":
      return JSON.stringify({ type: "error", error: { type, message } });
    case "openai":
      return JSON.stringify({ error: { message, type, param: null, code: type } });
    case "google":
      return JSON.stringify({ error: { code: status, message, status: type } });
  }
}
