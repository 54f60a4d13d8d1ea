// Who the programs of a sandbox are on the host. Under root each sandbox gets a user of its own, so that what
// the kernel counts by user (processes, key rings, pending signals) is not shared with anybody who has an
// account, nor, as a rule, with another attempt. The numbers have no name anywhere: systemd leaves 60578 to 61183
// free (systemd.io/UIDS-GIDS), Debian gives none of them out unasked.
import { hash } from "node:crypto";

export type SandboxUser = { uid: number; gid: number };

const first = 60_600;
const last = 61_183;

/** For the sandbox that `token` marks; this process's own user where it is not root. */
export function sandboxUser(token: string): SandboxUser {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid !== 0) return { uid, gid };
  const number = first + (hash("sha256", token, "buffer").readUInt32BE() % (last - first + 1));
  return { uid: number, gid: number };
}
