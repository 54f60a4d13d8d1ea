// Whether this user can use bubblewrap on this machine, and what it can do. Tested by running it, once.
import { existsSync } from "node:fs";
import { release } from "node:os";
import { seccompFilter } from "@mlrb/kit/processes/seccomp-filter";
import { trialMs } from "@mlrb/kit/processes/trial-limit";
import { execa } from "execa";

export type BubblewrapAbilities = Exclude<Awaited<ReturnType<typeof ask>>, { missing: string }>;

let asked: ReturnType<typeof ask> | undefined;

export function bubblewrapAbilities(): ReturnType<typeof ask> {
  asked ??= ask();
  return asked;
}

/** Why bubblewrap cannot be used here, with the way out; undefined if it can. */
export async function bubblewrapMissing(): Promise<string | undefined> {
  const able = await bubblewrapAbilities();
  return "missing" in able ? able.missing : undefined;
}

async function ask() {
  const otherwise = "use `executor: docker`, or a machine where it works";
  const no = (why: string) => ({ missing: `bubblewrap cannot be used here: ${why}` });
  if (process.platform !== "linux") return no(`it needs Linux, this is ${process.platform}; ${otherwise}`);
  if (!seccompFilter())
    return no(`its filter of system calls exists for x64 and arm64, this is ${process.arch}; ${otherwise}`);
  const help = await said(["bwrap", "--help"]);
  if (!help)
    return no(
      "bwrap is not installed; install the package bubblewrap of this system, e.g. `apt install bubblewrap`, or without root `conda install -c conda-forge bubblewrap`",
    );
  const version =
    /(\d+\.\d+[.\d]*)/.exec((await said(["bwrap", "--version"])) ?? "")?.[1] ?? "of unknown version";
  if (!help.includes("--clearenv") || !help.includes("--perms"))
    return no(`it is ${version}, and 0.5 or newer is needed; ${otherwise}`);
  const python = await findPython();
  if (!python) return no("it needs python3 to start programs inside; install python3");
  const asRoot = process.getuid?.() === 0;
  const trial = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"];
  if (!asRoot) trial.push("--unshare-user");
  trial.push("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "true");
  const { failed, timedOut, stderr } = await execa(trial[0]!, trial.slice(1), {
    reject: false,
    timeout: trialMs,
  });
  if (timedOut) return no(`a trial did not end within ${trialMs / 1000} s, as on a machine that is too busy`);
  if (failed)
    return no(
      `it says "${stderr?.trim().split("\n").at(-1)}"; ` +
        (asRoot
          ? `this process is root without the right to make namespaces, as in a container; give the container CAP_SYS_ADMIN, or ${otherwise}`
          : `this system may keep users from having namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns): an administrator can allow them, or ${otherwise}`),
    );
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return {
    version,
    /** The size of folders in memory can be limited (0.7 or newer). */
    canSize: help.includes("--size"),
    /** The kernel counts a user's processes by user namespace (Linux 5.14), or the user has no others. */
    countsProcessesApart: asRoot || major > 5 || (major === 5 && minor >= 14),
    python,
  };
}

/** An interpreter in /usr, which every sandbox shows, or else the one on the PATH with its folder. */
async function findPython(): Promise<{ program: string; prefix?: string } | undefined> {
  for (const program of ["/usr/bin/python3", "/usr/local/bin/python3"])
    if (existsSync(program)) return { program };
  const code =
    "import os, sys; print(os.path.realpath(sys.executable)); print(os.path.realpath(sys.base_prefix))";
  const [program, prefix] = (await said(["python3", "-I", "-S", "-c", code]))?.split("\n") ?? [];
  return program && prefix ? { program, prefix } : undefined;
}

async function said([program, ...args]: string[]): Promise<string | undefined> {
  const { failed, stdout } = await execa(program!, args, {
    reject: false,
    timeout: trialMs,
    stdin: "ignore",
  });
  return failed ? undefined : stdout;
}
