// The addresses of the services that an attempt uses, in a file of its folder. An attempt outlives its run, and the next
// run starts the service at another address, so the file is read before each call.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mustFollow } from "@mlrb/formats/read-format";
import { serviceAddresses } from "@mlrb/formats/stage/service-addresses";
import { canonicalJson, writeWhole } from "../json-file.ts";

const file = "services.json";
const address = /\{services\.([a-zA-Z][\w-]*)\.url\}/g;

/** Writes the addresses into the folder of an attempt. */
export function writeServiceAddresses(folder: string, urls: Record<string, string>): void {
  writeWhole(join(folder, file), canonicalJson({ formatVersion: 1, urls }));
}

/**
 * `url` with the present addresses of services in place of `{services.NAME.url}`. `folder`: the attempt's; undefined for
 * an attempt by hand. Throws if it names a service that has no address there.
 */
export function atServiceAddress(url: string, folder = process.env.MLRB_WORK): string {
  if (!url.includes("{services.")) return url;
  const urls = folder === undefined ? {} : addressesIn(folder);
  return url.replace(address, (_, name: string) => {
    const found = urls[name];
    if (found !== undefined) return found;
    throw new Error(
      `${url}: the service "${name}" has no address here; a run of a pipeline with this service gives it one`,
    );
  });
}

function addressesIn(folder: string): Record<string, string> {
  const path = join(folder, file);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  return mustFollow(serviceAddresses, JSON.parse(text), path).urls;
}
