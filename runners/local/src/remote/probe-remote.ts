// Whether a remote cache answers, for `doctor`. Asks for one content and writes nothing.
import { hash } from "node:crypto";
import { type RemoteAddress, RemoteClient, type RemoteLimits, remoteLimits } from "./remote-client.ts";
import { RemoteTrouble } from "./remote-trouble.ts";

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
    await client.sizeOf(`cas/${hash("sha256", "mlrb")}`, signal);
    return undefined;
  } catch (error) {
    if (error instanceof RemoteTrouble) return error.message;
    throw error;
  } finally {
    client.close();
  }
}
