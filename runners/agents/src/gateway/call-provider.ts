// Sends one request to a provider: the rebuilt body and the headers that were admitted, with the real key. Nothing
// comes back that names the operator's account.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { calledAddress, modelRequest } from "../model/model-route.ts";
import type { GatewayProtocol, GatewayProvider } from "./gateway-provider.ts";

const back =
  /^(content-type|retry-after|retry-after-ms|request-id|x-request-id|x-should-retry|(anthropic|x)-ratelimit-[\w-]+)$/;

/** Rejects without an answer. Only `signal` limits the time: a provider may think for long. */
export function callProvider(
  provider: GatewayProvider,
  asked: { path: string; body: string; headers: Record<string, string> },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(calledAddress(provider.baseUrl) + asked.path);
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(asked.body)),
    "accept-encoding": "identity", // answers are read on the way
    "user-agent": "mlrb",
    ...asked.headers,
    ...(provider.key !== undefined && keyHeader[provider.protocol](provider.key)),
  };
  return modelRequest(url, { method: "POST", headers, signal, body: asked.body });
}

const keyHeader: Record<GatewayProtocol, (key: string) => Record<string, string>> = {
  anthropic: (key) => ({ "x-api-key": key }),
  google: (key) => ({ "x-goog-api-key": key }),
  openai: (key) => ({ authorization: `Bearer ${key}` }),
};

/** The headers of a provider's answer that a program may see. */
export function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] => back.test(entry[0]) && typeof entry[1] === "string",
    ),
  );
}
