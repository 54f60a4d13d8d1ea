// The host user of a sandbox's programs. Under root each sandbox has a user of its own. So what the kernel counts
// by user (processes, key rings, pending signals) is not shared with a user who has an account, nor, as a rule,
// with another attempt. No system uses these numbers by default: systemd leaves 60578 to 61183 free
// (systemd.io/UIDS-GIDS), Debian assigns none of them unasked.
import { hash } from "node:crypto";

export type SandboxUser = { uid: number; gid: number };

const first = 60_600;
const last = 61_183;

/** The user for the sandbox of this `token`; this process's own user if it is not root. */
export function sandboxUser(token: string): SandboxUser {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid !== 0) return { uid, gid };
  const number = first + (hash("sha256", token, "buffer").readUInt32BE() % (last - first + 1));
  return { uid: number, gid: number };
}
