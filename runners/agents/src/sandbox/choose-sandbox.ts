// Chooses the sandbox for an agent's programs: a container if the stage asks for one, else walls of this host for
// untrusted programs, else a plain folder. Never less than requested: without the sandbox the attempt does not begin.
import type { Sandbox, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { sandboxToken } from "@mlrb/core/ports/sandbox-token";
import type { SandboxRequest } from "@mlrb/formats/stage/stage-context";
import { mayLimitMemory } from "@mlrb/kit/processes/control-groups";
import { bubblewrapMissing } from "./bubblewrap-abilities.ts";
import { bubblewrapWalls } from "./bubblewrap-walls.ts";
import { plainSandbox } from "./plain-sandbox.ts";
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
};

/** `asked` is undefined if the step runs by hand. Then the program must be trusted, or bubblewrap available. */
export async function chooseSandbox(
  asked: SandboxRequest | undefined,
  {
    under,
    agent,
    trusted,
    alsoReads = [],
    limitsMemory = mayLimitMemory,
    containers,
    earlier,
  }: SandboxChoice,
): Promise<Sandbox> {
  const inContainers = asked?.executor === "docker";
  if (!inContainers && (trusted || asked?.unsafe)) return plainSandbox(under, earlier?.root);
  const missing = inContainers ? undefined : await bubblewrapMissing();
  if (missing !== undefined) {
    throw new SandboxTrouble(
      `agent "${agent}" is not trusted (its preset lacks \`trusted: true\`), and there is no sandbox to run it in: ${missing}; ` +
        (asked?.executor === "slurm"
          ? "ask the administrator of the cluster for user namespaces and bubblewrap on its nodes, run its stage with `executor: local`, "
          : "or run it with --executor docker, ") +
        "set `trusted: true` after reading what the program does, or pass --unsafe-local",
    );
  }
  // by hand a person watches the machine
  if (!inContainers && asked && !asked.weakLimits && !(await limitsMemory()))
    throw new SandboxTrouble(
      `agent "${agent}" is not trusted, and no kernel limit can hold its memory: this user may make no control group for ` +
        "memory; start the run as root, in a systemd session of this user (`systemd-run --user --scope`), or with " +
        "--executor docker; or pass --weak-limits, or set `weakLimits: true` in the profile: its memory is then checked four times a second, and a hostile program can exceed its limit",
    );
  const {
    image,
    environment,
    network = "none",
    reads = [],
    gpus = [],
    token = `by-hand-${process.pid}`,
  } = asked ?? {};
  return walledSandbox({
    under,
    agent,
    earlier,
    kind: inContainers ? "docker" : "bubblewrap",
    open: inContainers ? containers : bubblewrapWalls,
    reads: [...reads, ...alsoReads],
    network,
    limits: asked?.limits ?? byHand,
    gpus,
    ...(image !== undefined && { image }),
    ...(environment && { environment }),
    token: sandboxToken(token.replace(/[^A-Za-z0-9-]+/g, "-")),
  });
}

const byHand = { memoryBytes: 4 * 2 ** 30, processes: 1024, diskBytes: 50 * 2 ** 30, cpus: 1 };
