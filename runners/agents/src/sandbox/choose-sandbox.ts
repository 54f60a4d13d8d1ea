// Chooses the sandbox for an agent's programs: a container if the stage asks for one, else walls of this host for
// untrusted programs, else a plain folder. On a node of a cluster, the first program that can isolate the agent there.
// Never less than requested: without the sandbox the attempt does not begin.
import type { Sandbox, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { sandboxToken } from "@mlrb/core/ports/sandbox-token";
import type { SandboxRequest } from "@mlrb/formats/stage/stage-context";
import { mayLimitMemory } from "@mlrb/kit/processes/control-groups";
import { bubblewrapMissing } from "./bubblewrap-abilities.ts";
import { bubblewrapWalls } from "./bubblewrap-walls.ts";
import { plainSandbox } from "./plain-sandbox.ts";
import { firstEngine, nodeEngines, type Podman } from "./sandbox-engines.ts";
import { SandboxTrouble } from "./sandbox-trouble.ts";
import { walledSandbox } from "./walled-sandbox.ts";

export type SandboxChoice = {
  /** The folder under which the sandbox's own is made. */
  under: string;
  agent: string;
  /** Whether a person trusts the program (`trusted: true` in the preset). */
  trusted: boolean;
  /** Host files and folders of the harness that its programs may read, besides those of the stage. */
  alsoReads?: string[];
  /** Whether the kernel can limit the memory of a sandbox. */
  limitsMemory?: () => Promise<boolean>;
  /** The files of an attempt that continues, and its paths that are read-only inside. */
  earlier?: { root: string; readOnly: string[] } | undefined;
  /** Opens walls in a container. */
  containers: (request: WallsRequest) => Promise<Walls>;
  /** For a node of a cluster. */
  podman: Podman;
};

/** `asked` is undefined if the step runs by hand. Then the program must be trusted, or bubblewrap available. */
export async function chooseSandbox(
  asked: SandboxRequest | undefined,
  choice: SandboxChoice,
): Promise<Sandbox> {
  const { under, agent, trusted, alsoReads = [], earlier } = choice;
  if ((trusted || asked?.unsafe) && !isContained(asked)) return plainSandbox(under, earlier?.root);
  const { kind, open } = await wallsFor(asked, choice);
  const {
    image,
    environment,
    network = "none",
    reads = [],
    gpus = [],
    token = `by-hand-${process.pid}`,
  } = asked ?? {};
  return walledSandbox({
    ...{ under, agent, earlier, kind, open },
    reads: [...reads, ...alsoReads],
    network,
    limits: asked?.limits ?? byHand,
    gpus,
    ...(image !== undefined && { image }),
    ...(environment && { environment }),
    token: sandboxToken(token.replace(/[^A-Za-z0-9-]+/g, "-")),
  });
}

/** Whether the agent's programs are not this host's, or are seen from another system: its key says so. */
function isContained(asked: SandboxRequest | undefined): boolean {
  return asked?.executor === "docker" || (asked?.executor === "slurm" && asked.image !== undefined);
}

type Opener = { kind: string; open(request: WallsRequest): Promise<Walls> };

/** Throws SandboxTrouble, with the fix, where nothing isolates the agent. */
async function wallsFor(asked: SandboxRequest | undefined, choice: SandboxChoice): Promise<Opener> {
  const { agent, limitsMemory = mayLimitMemory } = choice;
  if (asked?.executor === "docker") return { kind: "docker", open: choice.containers };
  if (asked?.executor === "slurm") return await onNode(asked, choice);
  const missing = await bubblewrapMissing();
  if (missing !== undefined)
    throw new SandboxTrouble(
      `${untrusted(agent)}, and there is no sandbox to run it in: ${missing}; or run it with --executor docker, ${trustIt}`,
    );
  // by hand a person watches the machine
  if (asked && !asked.weakLimits && !(await limitsMemory()))
    throw new SandboxTrouble(
      `agent "${agent}" is not trusted, and no kernel limit can hold its memory: this user may make no control group for ` +
        "memory; start the run as root, in a systemd session of this user (`systemd-run --user --scope`), or with " +
        "--executor docker; or pass --weak-limits, or set `weakLimits: true` in the profile: its memory is then checked four times a second, and a hostile program can exceed its limit",
    );
  return { kind: "bubblewrap", open: bubblewrapWalls };
}

async function onNode(
  asked: SandboxRequest,
  { agent, podman, limitsMemory }: SandboxChoice,
): Promise<Opener> {
  const needs = { image: asked.image, weakLimits: asked.weakLimits === true };
  const found = await firstEngine(
    nodeEngines(podman, { limitsMemory, images: process.env.MLRB_IMAGES }),
    needs,
  );
  if (found.kind === "none")
    throw new SandboxTrouble(
      `${untrusted(agent)}, and this node has no sandbox to run it in: ${found.passed.join("; ")}; ` +
        "ask the administrator of the cluster for one of them (docs/cluster.md, Attempts), run its stage with `executor: local`, " +
        trustIt,
    );
  const why = found.passed.length === 0 ? "" : ` (not ${found.passed.join("; not ")})`;
  console.log(`sandbox: ${found.engine.kind}${why}`);
  if (asked.image !== undefined)
    await found.engine.prepare?.(asked.image).catch((error: Error) => {
      throw new SandboxTrouble(`agent "${agent}": ${error.message}`);
    });
  return found.engine;
}

function untrusted(agent: string): string {
  return `agent "${agent}" is not trusted (its preset lacks \`trusted: true\`)`;
}

const trustIt = "set `trusted: true` after reading what the program does, or pass --unsafe-local";

const byHand = { memoryBytes: 4 * 2 ** 30, processes: 1024, diskBytes: 50 * 2 ** 30, cpus: 1 };
