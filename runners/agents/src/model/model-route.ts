// The way of model calls: to their provider, or on a node of a cluster through the relay of the host that
// submitted the job. The relay listens on a unix socket of the node, gets whole addresses as a proxy does, and
// adds the keys.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { relayErrorHeader, relayVariable } from "@mlrb/core/ports/relay";
import { atRelayedAddress, atServiceAddress, relayedAddress } from "@mlrb/kit/attempts/service-addresses";

type Asked = {
  method: string;
  headers: Record<string, string>;
  signal?: AbortSignal;
  body?: string | Uint8Array;
};

/**
 * The address to call where `url` names a service. The host that makes the call fills in the present one:
 * `modelRequest`, `modelFetch` or, for a node of a cluster, the relay. Throws if the service has no address here.
 */
export function calledAddress(url: string): string {
  if (process.env[relayVariable] === undefined) atServiceAddress(url);
  return relayedAddress(url);
}

function presentAddress(url: URL): URL {
  return atRelayedAddress(url, process.env.MLRB_WORK);
}

/** Rejects without an answer. Only `signal` limits the time. */
export async function modelRequest(
  url: URL,
  { body, ...options }: Asked,
  relay = process.env[relayVariable],
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  if (relay === undefined) {
    const present = presentAddress(url);
    const send = present.protocol === "https:" ? httpsRequest : httpRequest;
    send(present, options, resolve).on("error", reject).end(body);
    return promise;
  }
  const request = httpRequest({
    ...options,
    socketPath: relay,
    path: url.href,
    agent: false, // a kept connection ends with the relay's channel
    headers: { ...options.headers, host: url.host, "accept-encoding": "identity" },
  });
  request.on("error", (cause: NodeJS.ErrnoException) => {
    if (cause.code !== "ENOENT" && cause.code !== "ECONNREFUSED") return reject(cause);
    const away = new Error("the relay on the host that submitted this job is away", { cause });
    reject(Object.assign(away, { code: "ECONNREFUSED" })); // as a provider that cannot be reached
  });
  request.on("response", (answer) => {
    const trouble = answer.headers[relayErrorHeader];
    if (typeof trouble !== "string") return resolve(answer);
    answer.destroy();
    const said = answer.headers[`${relayErrorHeader}-detail`];
    const words = typeof said === "string" ? decodeURIComponent(said) : trouble;
    reject(Object.assign(new Error(words), { code: trouble }));
  });
  request.end(body);
  return promise;
}

/** fetch of a text or of bytes, by the same way. */
export const modelFetch: typeof fetch = async (input, init) => {
  const relay = process.env[relayVariable];
  if (relay === undefined)
    return fetch(input instanceof Request ? input : presentAddress(new URL(input)), init);
  const { method = "GET", headers, body, signal } = init ?? {};
  if (input instanceof Request || (body && typeof body !== "string" && !(body instanceof Uint8Array)))
    throw new Error("the relay of model calls passes an address with a text or bytes");
  const answer = await modelRequest(
    new URL(input),
    {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...(signal && { signal }),
      ...(body && { body: body as string | Uint8Array }),
    },
    relay,
  );
  const status = answer.statusCode ?? 502;
  const shown = new Headers();
  for (const [name, value] of Object.entries(answer.headersDistinct))
    for (const one of value ?? []) shown.append(name, one);
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream), {
    status,
    statusText: answer.statusMessage ?? "",
    headers: shown,
  });
};
