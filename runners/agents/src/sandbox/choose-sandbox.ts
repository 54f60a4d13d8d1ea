// Which sandbox holds an agent's programs: containers where they were asked for; else walls of this host, for
// whatever nobody vouched for; else a plain folder. Never less than was asked for: where it cannot be had, the
// attempt is not begun.
import type { Sandbox, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { sandboxToken } from "@mlrb/core/ports/sandbox-token";
import type { SandboxRequest } from "@mlrb/formats/stage/stage-context";
import { bubblewrapMissing } from "./bubblewrap-abilities.ts";
import { bubblewrapWalls } from "./bubblewrap-walls.ts";
import { plainSandbox } from "./plain-sandbox.ts";
import { SandboxTrouble } from "./sandbox-trouble.ts";
import { walledSandbox } from "./walled-sandbox.ts";

export type SandboxChoice = {
  /** The folder under which the sandbox's own is made. */
  under: string;
  agent: string;
  /** Whether a person vouched for the program (`trusted: true` in the preset). */
  trusted: boolean;
  /** What opens walls in a container. */
  containers: (request: WallsRequest) => Promise<Walls>;
};

/** `asked` is undefined where the step runs by hand: then the program must be trusted, or bubblewrap be there. */
export async function chooseSandbox(
  asked: SandboxRequest | undefined,
  { under, agent, trusted, containers }: SandboxChoice,
): Promise<Sandbox> {
  const inContainers = asked?.executor === "docker";
  if (!inContainers && (trusted || asked?.unsafe)) return plainSandbox(under);
  const missing = inContainers ? undefined : await bubblewrapMissing();
  if (missing !== undefined) {
    throw new SandboxTrouble(
      `agent "${agent}" is not trusted (its preset lacks \`trusted: true\`), and there is no sandbox to run it in: ${missing}; ` +
        "or run it with --executor docker, set `trusted: true` after reading what the program does, or pass --unsafe-local",
    );
  }
  const { image, network = "none", reads = [], gpus = [], token = `by-hand-${process.pid}` } = asked ?? {};
  return walledSandbox({
    under,
    agent,
    kind: inContainers ? "docker" : "bubblewrap",
    open: inContainers ? containers : bubblewrapWalls,
    reads,
    network,
    limits: asked?.limits ?? byHand,
    gpus,
    ...(image !== undefined && { image }),
    token: sandboxToken(token.replace(/[^A-Za-z0-9-]+/g, "-")),
  });
}

const byHand = { memoryBytes: 4 * 2 ** 30, processes: 1024, diskBytes: 50 * 2 ** 30, cpus: 1 };
