// The relay of model calls: a node's processes reach the host that submitted their job through a unix socket of
// the node. That host knows the secrets; on the node each secret has a placeholder as its value, which the relay
// replaces.
import { createHash } from "node:crypto";

/** Names the socket, in the environment of a stage whose model calls go through the relay. */
export const relayVariable = "MLRB_RELAY";

/** In an answer of the relay itself: the code of the error by which it did not reach the provider. */
export const relayErrorHeader = "x-mlrb-relay-error";

/** An address below which the relay sends calls, and the name of the secret that it adds there. */
export type RelayRoute = { address: string; secret?: string };

/** The value of a secret on the node, the same for each job of an attempt. It opens nothing by itself. */
export function placeholderOf(attempt: string, secret: string): string {
  return `mlrb-relay-${createHash("sha256").update(`${attempt}\0${secret}`).digest("hex").slice(0, 32)}`;
}
