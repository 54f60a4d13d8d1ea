// Chooses the sandbox for an agent's programs: a container if the stage asks for one, else walls of this host for
// untrusted programs, else a plain folder. Never less than requested: without the sandbox the attempt does not
// begin.
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
  choice: SandboxChoice,
): Promise<Sandbox> {
  const { under, agent, trusted, alsoReads = [], earlier } = choice;
  if ((trusted || asked?.unsafe) && asked?.executor !== "docker") return plainSandbox(under, earlier?.root);
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

type Opener = { kind: string; open(request: WallsRequest): Promise<Walls> };

/** Throws SandboxTrouble, with the fix, where nothing isolates the agent. */
async function wallsFor(
  asked: SandboxRequest | undefined,
  { agent, containers, limitsMemory = mayLimitMemory }: SandboxChoice,
): Promise<Opener> {
  if (asked?.executor === "docker") return { kind: "docker", open: containers };
  const isOnNode = asked?.executor === "slurm";
  const missing = await bubblewrapMissing();
  if (missing !== undefined) {
    const otherwise = isOnNode ? "its stage with `executor: local`" : "it with --executor docker";
    throw new SandboxTrouble(
      `agent "${agent}" is not trusted (its preset lacks \`trusted: true\`), and there is no sandbox to run it in: ` +
        `${missing}; or run ${otherwise}, set \`trusted: true\` after reading what the program does, or pass --unsafe-local`,
    );
  }
  // by hand a person watches the machine
  if (asked && !asked.weakLimits && !(await limitsMemory()))
    throw new SandboxTrouble(
      `agent "${agent}" is not trusted, and no kernel limit can hold its memory: ${isOnNode ? noGroupOnNode : noGroupHere}: ` +
        "its memory is then checked four times a second, and a hostile program can exceed its limit",
    );
  return { kind: "bubblewrap", open: bubblewrapWalls };
}

const noGroupHere =
  "this user may make no control group for memory; start the run as root, in a systemd session of this user " +
  "(`systemd-run --user --scope`), or with --executor docker; or pass --weak-limits, or set `weakLimits: true` in the profile";

export const noGroupOnNode =
  "this user may make no control group for memory in a job; ask the administrator to let jobs have control groups of " +
  "their own, or set `weakLimits: true` in the profile";

const byHand = { memoryBytes: 4 * 2 ** 30, processes: 1024, diskBytes: 50 * 2 ** 30, cpus: 1 };
