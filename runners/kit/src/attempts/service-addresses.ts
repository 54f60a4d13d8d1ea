// The addresses of the services that an attempt uses, in a file of its folder. An attempt outlives its run, and
// the next run starts the service at another address, so the file is read before each call.
import { join } from "node:path";
import { mustFollow } from "@mlrb/formats/read-format";
import { serviceAddresses } from "@mlrb/formats/stage/service-addresses";
import { readFrom } from "../files/read-from.ts";
import { canonicalJson, writeWhole } from "../json-file.ts";
import { isOwnPort } from "../services/own-connection.ts";

const file = "services.json";
const address = /\{services\.([a-zA-Z][\w-]*)\.url\}/g;

/** Writes the addresses into the folder of an attempt. */
export function writeServiceAddresses(folder: string, urls: Record<string, string>): void {
  writeWhole(join(folder, file), canonicalJson({ formatVersion: 1, urls }));
}

/**
 * `url` with the present addresses of services in place of `{services.NAME.url}`. `folder`: the attempt's;
 * undefined for an attempt by hand. Throws if it names a service that has no address there.
 */
export function atServiceAddress(url: string, folder = process.env.MLRB_WORK): string {
  if (!url.includes("{services.")) return url;
  const urls = addressesIn(folder);
  return url.replace(address, (_, name: string) => {
    const found = urls[name];
    if (found !== undefined) return found;
    throw new Error(`${url}: ${noAddress(name)}`);
  });
}

function noAddress(name: string): string {
  return `the service "${name}" has no address here; a run of a pipeline with this service gives it one`;
}

/** Of a URL below it the first part of the path is the name of a service. `.invalid` is no host anywhere. */
const relayed = "http://services.invalid/";

/**
 * `url` as a model's client gets it, also on a node of a cluster: at each call the host of the attempt's
 * supervisor fills in the present address. A node may see an old state of the attempt's folder.
 */
export function relayedAddress(url: string): string {
  return url.replace(address, `${relayed}$1`);
}

/**
 * The present address of what `relayedAddress` gave. Throws as `atServiceAddress`, and where no program of this
 * user listens: between two starts of a service its port is free for other users' programs. Only a service that
 * may come has a code.
 */
export function atRelayedAddress(url: URL, folder: string | undefined, isOwn = isOwnPort): URL {
  if (!url.href.startsWith(relayed)) return url;
  const [, name = "", rest = ""] = /^([^/?]*)(.*)$/.exec(url.href.slice(relayed.length)) ?? [];
  const base = addressesIn(folder)[name];
  if (base === undefined) throw away(noAddress(name));
  const present = new URL(base + rest);
  if (isOwn(Number(present.port))) return present;
  throw away(`the service "${name}" is away: no program of this user listens at ${present.host}`);
}

/** Counts as a provider that cannot be reached, so that an attempt waits for it. */
function away(why: string): Error {
  return Object.assign(new Error(why), { code: "ECONNREFUSED" });
}

function addressesIn(folder: string | undefined): Record<string, string> {
  if (folder === undefined) return {};
  const path = join(folder, file);
  const bytes = readFrom(path, 0);
  return bytes ? mustFollow(serviceAddresses, JSON.parse(bytes.toString()), path).urls : {};
}
