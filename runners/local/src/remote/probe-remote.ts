// Whether a remote cache answers, for `doctor`. Asks for one content and writes nothing.
import { hash } from "node:crypto";
import { HttpTrouble } from "@mlrb/kit/http/http-trouble";
import type { RemoteAddress } from "./remote-client.ts";
import { RemoteClient, type RemoteLimits, remoteLimits } from "./remote-client.ts";

const content = "mlrb";

/** Why it does not answer as a cache does; undefined if it does. */
export async function probeRemote(
  address: RemoteAddress,
  limits: Partial<RemoteLimits> = {},
): Promise<string | undefined> {
  const client = new RemoteClient(address, {
    concurrency: 1,
    limits: { ...remoteLimits, tries: 1, ...limits },
  });
  const { signal } = new AbortController();
  try {
    const size = await client.sizeOf(`cas/${hash("sha256", content)}`, signal);
    return size === undefined || size === content.length
      ? undefined
      : `it has ${size} bytes where a cache has none or ${content.length}: is it the address of a web page?`;
  } catch (error) {
    if (error instanceof HttpTrouble) return error.message;
    throw error;
  } finally {
    client.close();
  }
}
