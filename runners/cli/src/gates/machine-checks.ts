// Decides whether a machine suffices for the program: what works, what is missing and how to get it. What only
// some profiles need is a note, never missing. Pure: the machine is an argument.

import type { Gpu } from "@mlrb/core/ports/gpu";
import { noPython } from "@mlrb/local/process/find-python";
import { type Check, missing, note, works } from "./check.ts";
import type { Machine } from "./inspect-machine.ts";

const GiB = 2 ** 30;

/** With less, a few environments and models do not fit (sizes in docs/machines.md). */
const freeBytesWanted = 10 * GiB;

export function machineChecks(machine: Machine): Check[] {
  const { node, wanted, pnpm, git, python, podman, gpus, root, namespaces } = machine;
  const install = `npx -y pnpm@${wanted.pnpm} install`;
  const major = (version: string) => version.split(".")[0]!;
  const sized = `${gib(root.freeBytes)} free for ${root.path}`;
  return [
    major(node) === major(wanted.node)
      ? works("node", node)
      : missing(
          "node",
          `${node}; the project uses ${wanted.node}`,
          `${install} installs it; then start by ./mlrb`,
        ),
    pnpm === undefined
      ? note("pnpm", "not on PATH", "./mlrb works without it")
      : major(pnpm) === major(wanted.pnpm)
        ? works("pnpm", pnpm)
        : note("pnpm", `${pnpm}; the project uses ${wanted.pnpm}`, "./mlrb works with any"),
    git === undefined
      ? note("git", "not on PATH", "not needed to run; needed to update the project")
      : works("git", git),
    python
      ? works("python", `${python.version} with venv, ${python.path}`)
      : missing("python", "no suitable version", noPython),
    !root.writable
      ? missing("disk", `${root.path} cannot be written`, "choose another --root, or check its owner")
      : root.freeBytes < freeBytesWanted
        ? note(
            "disk",
            sized,
            "environments and models take several GiB: free space, or choose another --root",
          )
        : works("disk", sized),
    works("memory", gib(machine.memoryBytes)),
    works("cpus", String(machine.cpus)),
    namespaces.network && namespaces.readOnly
      ? works("namespaces", "read-only folders, no network")
      : note("namespaces", namespaceWords(namespaces), namespaceHelp(machine)),
    wallsCheck(machine),
    bubblewrapCheck(machine),
    dockerCheck(machine),
    ...(podman === undefined ? [] : [engineCheck("podman", podman, machine)]),
    ...gpuChecks(gpus),
  ];
}

/** docs/security.md says what the walls are for. */
function wallsCheck({ noWalls, limitsMemory }: Machine): Check {
  if (noWalls === undefined)
    return works(
      "walls",
      limitsMemory
        ? "stages that open agents' files; memory held by a control group"
        : "stages that open agents' files; memory held by each process's own limit",
    );
  return note(
    "walls",
    noWalls,
    "of the stages that open agents' files, only those of trusted and of recorded attempts run, under weak limits (docs/security.md)",
  );
}

const diskHelp =
  "the disk limit of agents is only polled, and their rows say so: run as root with a loop device and mkfs.ext4 (e2fsprogs), or give this user a disk or a quota of its own";

function bubblewrapCheck(machine: Machine): Check {
  const { bubblewrap } = machine;
  switch (bubblewrap.kind) {
    case "works":
      if (machine.limitsMemory && machine.limitsDisk) return works("bubblewrap", bubblewrap.version);
      if (machine.limitsMemory)
        return note("bubblewrap", `${bubblewrap.version}; the disk limit is only polled`, diskHelp);
      return note(
        "bubblewrap",
        `${bubblewrap.version}; this user may make no control group for memory`,
        `untrusted agents are refused: run as root, in a systemd session (systemd-run --user --scope), in a service with Delegate=yes or in containers; or pass --weak-limits, or set \`weakLimits: true\` in the profile${machine.limitsDisk ? "" : `. ${diskHelp}`}`,
      );
    case "fails":
      return note(
        "bubblewrap",
        `${bubblewrap.version} cannot make a sandbox here: ${bubblewrap.said}`,
        namespaceHelp(machine),
      );
    case "missing":
      return note(
        "bubblewrap",
        "not on PATH",
        "for untrusted agents, which run in a sandbox or are refused; Debian and Ubuntu: apt install bubblewrap",
      );
  }
}

/** One line for all GPUs of a model: a host may have eight. */
function gpuChecks({ gpus, trouble }: Machine["gpus"]): Check[] {
  const words = ({ model, memoryBytes, driver }: Gpu) =>
    [model, ...(memoryBytes > 0 ? [gib(memoryBytes)] : []), ...(driver ? [`driver ${driver}`] : [])].join(
      ", ",
    );
  const alike = Map.groupBy(gpus, words);
  const found = [...alike].map(([text, some]) =>
    works("gpus", `${some.length} × ${text} (${some.map(({ index }) => index).join(", ")})`),
  );
  const none = gpus.length === 0 ? "none " : "";
  const said = trouble === undefined ? "(nvidia-smi -L)" : `(nvidia-smi reports: ${trouble})`;
  return trouble === undefined && gpus.length > 0 ? found : [...found, note("gpus", `${none}${said}`)];
}

function engineCheck(name: "docker" | "podman", version: string, { unlimited }: Machine): Check {
  if (!unlimited.includes(name)) return works(name, version);
  return note(
    name,
    `${version}, rootless without a control group for memory`,
    "it runs stages, with limits of each process; untrusted agents are refused: docs/machines.md says how to delegate control groups",
  );
}

function dockerCheck(machine: Machine): Check {
  const { docker } = machine;
  switch (docker.kind) {
    case "works":
      return engineCheck("docker", docker.version, machine);
    case "missing":
      return note(
        "docker",
        "not on PATH",
        "https://docs.docker.com/engine/install/; only needed for stages that run in containers",
      );
    case "no-daemon":
      return note(
        "docker",
        `the server does not answer: ${docker.said}`,
        "start the server, or join the group docker",
      );
  }
}

function namespaceWords({ readOnly, network }: Machine["namespaces"]): string {
  const lacking = [...(readOnly ? [] : ["read-only folders"]), ...(network ? [] : ["removing the network"])];
  return `not allowed here: ${lacking.join(", ")}`;
}

export function namespaceHelp({ platform }: Machine): string {
  return platform === "linux"
    ? "allow user namespaces (sysctl user.max_user_namespaces, and on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or run as root; otherwise inputs are copied and `network: none` is only noted in the log"
    : "Linux only; here inputs are copied and `network: none` is only noted in the log";
}

/** Rounded down, so that it never shows more than there is. */
export function gib(bytes: number): string {
  return bytes < 10 * GiB
    ? `${(Math.floor((bytes / GiB) * 10) / 10).toFixed(1)} GiB`
    : `${Math.floor(bytes / GiB)} GiB`;
}
