// One request to a provider, with nothing of the program's but its body and what it may say of the protocol's form:
// the real key goes in here, and nothing that names the program's machine or the operator's account comes back.
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { GatewayProvider } from "./gateway-provider.ts";

const forth = ["anthropic-version", "anthropic-beta", "openai-beta"];
const back =
  /^(content-type|retry-after|retry-after-ms|request-id|x-request-id|x-should-retry|(anthropic|x)-ratelimit-[\w-]+)$/;

/** Rejects where no answer comes. A provider may think for long: there is no limit but the signal's. */
export function callProvider(
  provider: GatewayProvider,
  asked: { path: string; body: string; headers: IncomingHttpHeaders },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(provider.baseUrl + asked.path);
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(asked.body)),
    "accept-encoding": "identity", // what passes is read
    "user-agent": "mlrb",
    ...keyHeader(provider),
  };
  for (const name of forth) {
    const value = asked.headers[name];
    if (typeof value === "string") headers[name] = value;
  }
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, { method: "POST", headers, signal }, resolve);
    request.on("error", reject);
    request.end(asked.body);
  });
}

function keyHeader({ protocol, key }: GatewayProvider): Record<string, string> {
  if (key === undefined) return {};
  switch (protocol) {
    case "anthropic":
      return { "x-api-key": key };
    case "google":
      return { "x-goog-api-key": key };
    case "openai":
      return { authorization: `Bearer ${key}` };
  }
}

/** The headers of a provider's answer that a program may see. */
export function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] => back.test(entry[0]) && typeof entry[1] === "string",
    ),
  );
}
