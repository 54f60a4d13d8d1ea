// Whether a node of a cluster suffices for the jobs of a profile, and what to ask the administrator where it does
// not. Pure: the node is an argument.
import { formatBytes, formatDuration } from "@mlrb/core/text/units";
import type { SlurmNode } from "@mlrb/formats/stage/slurm-node";
import { type Check, missing, note, works } from "../gates/check.ts";
import type { NodeNeeds } from "./jobs-alike.ts";

/** The host that submits. */
export type SubmitHost = {
  python: { path: string; version: string } | undefined;
  processor: string;
  /** When the node read its clock, by this host's: between these. */
  clockMs: { from: number; to: number };
};

const temporaryBytesWanted = 2 * 2 ** 30;
const skewMsMax = 60_000;
const namespacesHelp =
  "ask the administrator for user namespaces on the nodes (`unshare --user --net true` must work in a job; sysctl user.max_user_namespaces, on Debian kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0)";

export function nodeChecks(node: SlurmNode, needs: NodeNeeds, here: SubmitHost): Check[] {
  return [
    ...pythonCheck(node, needs, here),
    processorCheck(node, here),
    ...wallsChecks(node, needs),
    ...gpuCheck(node, needs),
    diskCheck(node),
    ...clockCheck(node, here),
  ];
}

function pythonCheck({ python }: SlurmNode, needs: NodeNeeds, here: SubmitHost): Check[] {
  if (!needs.python || !here.python) return [];
  const { path, version } = here.python;
  if (python === version) return [works("node's python", `${python}, ${path}`)];
  const found = python === null ? `no Python at ${path}` : `${python} at ${path}; here it is ${version}`;
  const help = `environments are used in place: ask the administrator for the same Python at ${path} on the nodes, or set MLRB_BASE_PYTHON to one on the shared disk`;
  return [missing("node's python", found, help)];
}

function diskCheck({ temporaryBytes }: SlurmNode): Check {
  const found = `${formatBytes(temporaryBytes)} free for temporary files`;
  if (temporaryBytes >= temporaryBytesWanted) return works("node's disk", found);
  const help = "ask the administrator for a larger TMPDIR on the nodes; outputs go to the shared disk";
  return note("node's disk", found, help);
}

function processorCheck({ processor }: SlurmNode, here: SubmitHost): Check {
  if (processor === here.processor) return works("node's processor", "of the same class as here");
  return note(
    "node's processor",
    `${processor}; here ${here.processor}`,
    "stages whose digits depend on it are refused there: choose nodes of this host's class with slurm: { constraint }, or submit from a host of theirs",
  );
}

function wallsChecks({ namespaces, walls, sandbox }: SlurmNode, needs: NodeNeeds): Check[] {
  const checks: Check[] = [];
  if (needs.offline.length > 0)
    checks.push(
      namespaces.network
        ? works("node's network", "can be removed from a stage")
        : note("node's network", `cannot be removed from ${named(needs.offline)}`, namespacesHelp),
    );
  if (needs.walled.length > 0)
    checks.push(
      walls === null
        ? works("node's walls", `for ${named(needs.walled)}`)
        : missing(
            "node's walls",
            `none for ${named(needs.walled)}: ${walls}`,
            `${namespacesHelp}; ${onHost}`,
          ),
    );
  if (needs.contained.length > 0) {
    const found = `none for ${named(needs.contained)}: no job runs in an image`;
    checks.push(missing("node's containers", found, onHost.replace("local", "docker")));
  }
  return [...checks, sandboxCheck(sandbox, needs.attempts)];
}

const onHost = "or let them run on this host: stages: { …: { executor: local } }";

function sandboxCheck(lacks: SlurmNode["sandbox"], attempts: string[]): Check {
  const name = "node's sandbox";
  const found = lacks === null ? "bubblewrap" : `none: ${lacks}`;
  if (attempts.length === 0) return { name, answer: "note", found: `${found}; attempts run on this host` };
  const line = `${found}; for the agents of ${named(attempts)}`;
  return lacks === null ? works(name, line) : missing(name, line, `${sandboxHelp}; ${onHost}`);
}

const sandboxHelp =
  "install bubblewrap on the nodes, or for yourself on the shared disk (`conda install -c conda-forge bubblewrap`), and " +
  namespacesHelp;

function named(stages: string[]): string {
  return stages.map((stage) => `"${stage}"`).join(", ");
}

function gpuCheck({ gpus }: SlurmNode, needs: NodeNeeds): Check[] {
  if (needs.gpus === 0) return [];
  if (gpus?.length === needs.gpus) return [works("node's gpus", gpus.join(", "))];
  return [
    missing(
      "node's gpus",
      gpus === null ? "Slurm granted none (CUDA_VISIBLE_DEVICES)" : `${gpus.length} (nvidia-smi -L)`,
      "set slurm: { gres } to the cluster's name of a GPU (sinfo --format=%G lists them); ask the administrator for nvidia-smi on the nodes",
    ),
  ];
}

function clockCheck({ clockMs }: SlurmNode, { clockMs: { from, to } }: SubmitHost): Check[] {
  const skewMs = Math.max(from - clockMs, clockMs - to, 0);
  if (skewMs <= skewMsMax) return [];
  const found = `${formatDuration(skewMs)} ${clockMs < from ? "behind" : "ahead of"} this host's`;
  const help = "durations are right all the same; ask the administrator for NTP on the nodes";
  return [note("node's clock", found, help)];
}
