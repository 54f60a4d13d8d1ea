// References by which a provider would fetch content: addresses of pictures and files, and other documents of a
// JSON Schema. Pure.
import type { Json } from "@mlrb/kit/stage";
import { within } from "../../model/json-text.ts";
import { knownHosts } from "../gateway-provider.ts";

/**
 * `web`: the provider would fetch it from the Internet. `stored`: it names what the operator's account stores,
 * e.g. `gs://…`, `files/…` or a file at the provider's own address.
 */
export function addressKind(address: string): "web" | "stored" {
  const url = URL.parse(address.trim().startsWith("//") ? `https:${address.trim()}` : address);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return "stored";
  const host = url.hostname.replace(/\.$/u, "");
  return knownHosts.some((known) => host === known || host.endsWith(`.${known}`)) ? "stored" : "web";
}

const references = ["$ref", "$dynamicRef", "$recursiveRef"];
const canBeFetched = /^\s*((https?|ftp|file):|\/\/)/iu;

/** The first reference of a JSON Schema that some server may fetch. A base address makes every other name one. */
export function remoteReference(schema: Json): string | undefined {
  const names: string[] = [];
  let hasBase = false;
  for (const [key, one] of within(schema)) {
    if (typeof one !== "string") continue;
    if (references.includes(key) && !one.startsWith("#")) names.push(one);
    else if (key === "$id" || key === "id") hasBase ||= canBeFetched.test(one);
  }
  return names.find((name) => hasBase || canBeFetched.test(name));
}
