// Words a refusal of the gateway as an error of the provider's protocol, so the program's client handles it like
// one.
import type { ServerResponse } from "node:http";
import type { Meter, OverBudget } from "../attempt/meter.ts";
import type { GatewayProtocol } from "./gateway-provider.ts";

type Addressed = { provider: { protocol: GatewayProtocol } };
export type Refusal = { status: number; detail: string };

/** Types of errors by status. Anthropic: platform.claude.com/docs/en/api/errors; OpenAI: platform.openai.com/docs/guides/error-codes; Google: google.rpc.Code. */
const types: Record<number, Record<GatewayProtocol, string>> = {
  400: { anthropic: "invalid_request_error", openai: "invalid_request_error", google: "INVALID_ARGUMENT" },
  401: { anthropic: "authentication_error", openai: "invalid_request_error", google: "UNAUTHENTICATED" },
  402: { anthropic: "billing_error", openai: "insufficient_quota", google: "RESOURCE_EXHAUSTED" },
  403: { anthropic: "permission_error", openai: "invalid_request_error", google: "PERMISSION_DENIED" },
  404: { anthropic: "not_found_error", openai: "invalid_request_error", google: "NOT_FOUND" },
  413: { anthropic: "request_too_large", openai: "invalid_request_error", google: "INVALID_ARGUMENT" },
  429: { anthropic: "rate_limit_error", openai: "rate_limit_exceeded", google: "RESOURCE_EXHAUSTED" },
  502: { anthropic: "api_error", openai: "server_error", google: "UNAVAILABLE" },
};

function providerError(protocol: GatewayProtocol, { status, detail }: Refusal): string {
  const type = (types[status] ?? types[400]!)[protocol];
  const message = `mlrb gateway: ${detail}`;
  const bodies: Record<GatewayProtocol, object> = {
    anthropic: { type: "error", error: { type, message } },
    openai: { error: { message, type, param: null, code: type } },
    google: { error: { code: status, message, status: type } },
  };
  return JSON.stringify(bodies[protocol]);
}

export function refuse(
  response: ServerResponse,
  { provider }: Addressed,
  status: number,
  detail: string,
): void {
  if (response.headersSent) return void response.destroy();
  if (!response.req.complete) response.shouldKeepAlive = false; // the rest of the request is not read
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(providerError(provider.protocol, { status, detail }));
}

/** Whether the attempt's own budget is used up. If so, the program and the supervisor are notified. */
export function refuseOver(
  { meter, overBudget }: { meter: Pick<Meter, "over">; overBudget(over: OverBudget): void },
  route: Addressed,
  response: ServerResponse,
): boolean {
  const used = meter.over();
  if (used === undefined) return false;
  refuse(response, route, 402, `the attempt's budget is used up: ${used.detail}`);
  overBudget(used);
  return true;
}
