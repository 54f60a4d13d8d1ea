// Starts a program that cannot write in a folder, or has no network, in Linux namespaces by util-linux' unshare.
// Works as root, or as any user where the system allows user namespaces. The program stays the same process and is
// not forked, so limits and kills reach it.
import { execFile } from "node:child_process";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { trialMs } from "@mlrb/kit/processes/trial-limit";

export type Confinement = { readOnly?: string; network?: "none" };

/** The first argument is the folder to make read-only, or empty; the others are the program. */
const script = `if [ -n "$1" ]; then
  mount --bind -- "$1" "$1" && mount -o remount,bind,ro -- "$1" || { echo "mlrb: $1 could not be mounted read-only" >&2; exit 125; }
fi
shift
ip link set lo up 2>/dev/null
exec "$@"`;

/** A command line that runs `argv` confined. */
export function confined(argv: readonly string[], { readOnly, network }: Confinement): string[] {
  if (readOnly === undefined && network === undefined) return [...argv];
  return [
    "unshare",
    // an ordinary user can mount and drop the network only in a user namespace; keeps the user's number
    ...(process.getuid?.() === 0 ? [] : ["--user", "--map-current-user", "--keep-caps"]),
    "--mount",
    ...(network === "none" ? ["--net"] : []),
    ...["--", "/bin/sh", "-c", script, "mlrb", readOnly ?? "", ...argv],
  ];
}

export type Abilities = { readOnly: boolean; network: boolean };

/** Tries out which kinds of confinement this machine allows this user. */
export async function abilities(): Promise<Abilities> {
  if (process.platform !== "linux") return { readOnly: false, network: false };
  using folder = mkdtempDisposableSync(join(tmpdir(), "mlrb-ask-"));
  const works = (confinement: Confinement, question: string) => {
    const [program, ...args] = confined(["/bin/sh", "-c", question], confinement);
    const limit = { timeout: trialMs, killSignal: "SIGKILL" } as const;
    return new Promise<boolean>((resolve) => {
      execFile(program!, args, limit, (error) => resolve(error === null));
    }).catch(() => false); // it could not be started
  };
  const [readOnly, network] = await Promise.all([
    works({ readOnly: folder.path }, `! touch "${folder.path}/file" 2>/dev/null`),
    works({ network: "none" }, "! grep -qE '^ *(eth|en|wl)' /proc/net/dev"),
  ]);
  return { readOnly, network };
}
