// Decides from method, path, address and key which of a program's requests pass to a provider. All others are
// refused. Pure.
import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { GatewayProvider } from "./gateway-provider.ts";
import type { Refusal } from "./provider-error.ts";

export type CallFormat = "openai-chat" | "openai-responses" | "anthropic" | "google";

export type Route = {
  provider: GatewayProvider;
  /** `call` is metered; `count` only counts tokens of a text; `models` is answered by the gateway itself. */
  kind: "call" | "count" | "models";
  format: CallFormat;
  /** From the address, if the protocol names it there. */
  model?: string;
  /** From the address: whether the answer is streamed. */
  stream?: boolean;
  /** At the provider, after its base URL. */
  path: string;
  /** Names of the query's parameters that are left out. */
  dropped: string[];
};

type IncomingRequest = { method: string; url: string; headers: IncomingHttpHeaders };

/** `token`: the program's key for the gateway. */
export function routeRequest(
  { method, url, headers }: IncomingRequest,
  { providers, token }: { providers: GatewayProvider[]; token: string },
): Route | { refused: Refusal; provider?: GatewayProvider } {
  const [path = "", query = ""] = url.split("?", 2);
  const [, name, ...rest] = path.split("/");
  const provider = providers.find((one) => one.name === name);
  if (!provider) {
    const names = providers.map((one) => `/${one.name}`).join(", ");
    return {
      refused: { status: 404, detail: `there is no provider under this address; there are ${names}` },
    };
  }
  const refuse = (status: number, detail: string) => ({ refused: { status, detail }, provider });
  const asked = new URLSearchParams(query);
  if (!keysOf(headers, asked).some((key) => sameText(key, token)))
    return refuse(401, "this is not the key that the attempt was given");
  // some clients put the version into their base URL, others behind it
  if (rest[0] === (provider.protocol === "google" ? "v1beta" : "v1")) rest.shift();
  const endpoint = rest.join("/");
  const found = endpointOf(provider, method, endpoint);
  if (!found) return refuse(404, `${method} ${endpoint.slice(0, 100)} is not let through`);
  const kept = keptQuery(provider, asked);
  const dropped = [...new Set(asked.keys())].filter((key) => key !== "key" && !kept.startsWith(`?${key}=`));
  return {
    ...{ provider, ...found, path: `/${endpoint}${kept}` },
    dropped: dropped.map((key) => `?${key.slice(0, 100)}`).slice(0, 20),
  };
}

type Endpoint = Pick<Route, "kind" | "format" | "model" | "stream">;

const endpoints: Record<string, Endpoint> = {
  "openai GET models": { kind: "models", format: "openai-chat" },
  "openai POST chat/completions": { kind: "call", format: "openai-chat" },
  "openai POST responses": { kind: "call", format: "openai-responses" },
  "anthropic GET models": { kind: "models", format: "anthropic" },
  "anthropic POST messages": { kind: "call", format: "anthropic" },
  "anthropic POST messages/count_tokens": { kind: "count", format: "anthropic" },
  "google GET models": { kind: "models", format: "google" },
};

function endpointOf({ protocol }: GatewayProvider, method: string, endpoint: string): Endpoint | undefined {
  const asked = `${protocol} ${method} ${endpoint}`;
  const [, model, verb] =
    /^google POST models\/([\w.-]+):(generateContent|streamGenerateContent|countTokens)$/.exec(asked) ?? [];
  if (model === undefined) return Object.hasOwn(endpoints, asked) ? endpoints[asked] : undefined;
  const kind = verb === "countTokens" ? "count" : "call";
  return { kind, format: "google", model, stream: verb === "streamGenerateContent" };
}

/** The part of the query that changes an answer's form. A key is never passed on. */
function keptQuery({ protocol }: GatewayProvider, asked: URLSearchParams): string {
  if (protocol === "anthropic" && asked.get("beta") === "true") return "?beta=true";
  return protocol === "google" && asked.get("alt") === "sse" ? "?alt=sse" : "";
}

function keysOf(headers: IncomingHttpHeaders, asked: URLSearchParams): string[] {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  const all = [bearer, headers["x-api-key"], headers["x-goog-api-key"], asked.get("key")];
  return all.filter((one) => typeof one === "string");
}

function sameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
