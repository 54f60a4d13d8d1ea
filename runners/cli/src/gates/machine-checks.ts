// Decides whether a machine suffices for the program and for each profile: what works, what is missing and how to get
// it. What a profile can do without is a note, never missing.
// Pure: the machine is an argument.

import type { Gpu } from "@mlrb/core/ports/gpu";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { gpusFor } from "@mlrb/local/leases/gpu-inventory";
import { noPython } from "@mlrb/local/process/find-python";
import { typedProgram } from "../request/typed-program.ts";
import type { Machine } from "./inspect-machine.ts";
import type { ProfileNeeds } from "./profile-needs.ts";

export type Check = { name: string; answer: "works" | "note" | "missing"; found: string; help?: string };
export type ProfileCheck = { profile: string; isDefault: boolean; runs: boolean; checks: Check[] };

const GiB = 2 ** 30;

/** With less, a few environments and models do not fit (sizes in docs/environments.md). */
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
          `${install} installs it; then start through pnpm`,
        ),
    pnpm === undefined
      ? note("pnpm", "not on PATH", `npx -y pnpm@${wanted.pnpm} pipeline … works without it`)
      : major(pnpm) === major(wanted.pnpm)
        ? works("pnpm", pnpm)
        : note("pnpm", `${pnpm}; the project uses ${wanted.pnpm}`, `npx -y pnpm@${wanted.pnpm} pipeline …`),
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
    "it runs stages, with limits of each process; untrusted agents are refused: docs/docker.md says how to delegate control groups",
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

/** `set`: whether a secret of that name is set; its value is not passed. */
export function profileCheck(
  needs: ProfileNeeds,
  machine: Machine,
  set: (secret: string) => boolean,
): ProfileCheck {
  const { profile, isDefault } = needs;
  const checks = "problems" in needs ? [unplanned(needs)] : lacks(needs, machine, set);
  return { profile, isDefault, runs: checks.every(({ answer }) => answer !== "missing"), checks };
}

function unplanned({ problems }: Extract<ProfileNeeds, { problems: unknown }>): Check {
  const more = problems.length > 1 ? `, and ${problems.length - 1} more problems` : "";
  const [first = "", ...rest] = renderDiagnostic(problems[0]!).split("\n");
  const help = rest.find((line) => line.startsWith("  help: "))?.slice("  help: ".length);
  return missing("plan", `${first}${more}`, help ?? `\`${typedProgram()} check\` shows all`);
}

function lacks(
  needs: Extract<ProfileNeeds, { instances: number }>,
  machine: Machine,
  set: (secret: string) => boolean,
): Check[] {
  const { gpus, cpus, memoryBytes, python, offline, contained, secrets } = needs;
  const checks: Check[] = [works("plan", `${needs.instances} stage instances`)];
  if (needs.checks.length > 0)
    checks.push(
      works("starts", `attempts start after ${needs.checks.join(", ")}; \`plan\` says what is expected`),
    );
  if (!machine.root.writable)
    checks.push(missing("disk", `${machine.root.path} cannot be written`, "choose another --root"));
  if (python && !machine.python) checks.push(missing("python", "no suitable version", noPython));
  // podman is used only if docker is not installed
  const engine = machine.docker.kind === "works" || (machine.docker.kind === "missing" && machine.podman);
  if (contained.length > 0 && !engine) {
    const found = `${contained.length} stages run in containers, and no engine answers`;
    const help = machine.podman
      ? "start Docker, or use podman: export MLRB_CONTAINER_ENGINE=podman (docs/docker.md)"
      : "install and start Docker or podman (docs/docker.md)";
    checks.push(missing("containers", found, help));
  }
  const able = gpusFor(gpus.amount, machine.gpus.gpus).length;
  if (gpus.amount > able) {
    const found = `"${gpus.stage}" needs ${gpus.amount}, this host has ${able}`;
    checks.push(missing("gpus", found, "run it on a host that has them, or choose another profile"));
  }
  for (const { name, stages, needed } of secrets) {
    const who = stages.map((stage) => `"${stage}"`).join(", ");
    const how = `export ${name}=… before the run; it is never logged or keyed`;
    if (set(name)) checks.push(works(name, `set, for ${who}`));
    else if (needed) checks.push(missing(name, `not set, and ${who} calls its provider`, how));
    else checks.push(note(name, `not set; optional for ${who}`, how));
  }
  if (memoryBytes.amount > machine.memoryBytes) {
    const found = `"${memoryBytes.stage}" requests ${gib(memoryBytes.amount)}, this host has ${gib(machine.memoryBytes)}`;
    checks.push(note("memory", found, "it will run alone, and may run out of memory"));
  }
  if (cpus.amount > machine.cpus)
    checks.push(
      note(
        "cpus",
        `"${cpus.stage}" requests ${cpus.amount}, this host has ${machine.cpus}`,
        "it will run alone",
      ),
    );
  if (offline.length > 0 && !machine.namespaces.network) {
    const found = `running without network cannot be enforced here for ${offline.map((stage) => `"${stage}"`).join(", ")}`;
    checks.push(note("network", found, namespaceHelp(machine)));
  }
  return checks;
}

function namespaceWords({ readOnly, network }: Machine["namespaces"]): string {
  const lacking = [...(readOnly ? [] : ["read-only folders"]), ...(network ? [] : ["removing the network"])];
  return `not allowed here: ${lacking.join(", ")}`;
}

function namespaceHelp({ platform }: Machine): string {
  return platform === "linux"
    ? "allow user namespaces (sysctl user.max_user_namespaces, and on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or run as root; otherwise inputs are copied and `network: none` is only noted in the log"
    : "Linux only; here inputs are copied and `network: none` is only noted in the log";
}

function works(name: string, found: string): Check {
  return { name, answer: "works", found };
}

function note(name: string, found: string, help?: string): Check {
  return { name, answer: "note", found, ...(help !== undefined && { help }) };
}

function missing(name: string, found: string, help: string): Check {
  return { name, answer: "missing", found, help };
}

/** Rounded down, so that it never shows more than there is. */
function gib(bytes: number): string {
  return bytes < 10 * GiB
    ? `${(Math.floor((bytes / GiB) * 10) / 10).toFixed(1)} GiB`
    : `${Math.floor(bytes / GiB)} GiB`;
}
