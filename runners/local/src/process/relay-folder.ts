// The folder of the relay's socket on a node. On the node's own disk: file systems of clusters have no sockets.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Linux refuses a longer path of a socket, and macOS one above 103 bytes. */
const pathBytesMax = 103;
/** The longest name that the relay's program gives its socket: it ends in a process id. */
const longestName = "sock.4194304";

/** Makes a folder that only this user may enter. A job may have a temporary folder whose path is too long. */
export function makeRelayFolder(temporary = tmpdir()): string {
  const longest = join(temporary, "mlrb-relay-XXXXXX", longestName);
  return mkdtempSync(join(Buffer.byteLength(longest) > pathBytesMax ? "/tmp" : temporary, "mlrb-relay-"));
}
