// The programs that can isolate an untrusted agent on a node of a cluster, in the order of preference. Sites differ in what
// they install and allow, so the choice is made where the job runs.
import type { Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { mayLimitMemory } from "@mlrb/kit/processes/control-groups";
import { apptainerAbilities } from "./apptainer-abilities.ts";
import { ensureSif } from "./apptainer-image.ts";
import { apptainerWalls } from "./apptainer-walls.ts";
import { bubblewrapMissing } from "./bubblewrap-abilities.ts";
import { bubblewrapWalls } from "./bubblewrap-walls.ts";
import { startTrouble } from "./start-trouble.ts";

export type SandboxEngine = {
  kind: "bubblewrap" | "podman" | "apptainer";
  /** Why it cannot isolate such an agent here, with what to ask for; undefined if it can. */
  missing(needs: SandboxNeeds): Promise<string | undefined>;
  /** Brings the image here, before the attempt costs anything. Throws with the reason. */
  prepare?(image: string): Promise<void>;
  open(request: WallsRequest): Promise<Walls>;
};

export type SandboxNeeds = {
  /** Of the agent's programs; undefined: this host's own. */
  image?: string | undefined;
  /** Whether a person allowed a memory limit that is only polled. */
  weakLimits: boolean;
};

/** podman is another package's. */
export type Podman = Omit<SandboxEngine, "kind">;

export type EngineFacts = {
  /** Whether the kernel can limit the memory of a sandbox. */
  limitsMemory?: (() => Promise<boolean>) | undefined;
  /** The folder of converted images; needed for an agent with an image. */
  images?: string | undefined;
};

export function nodeEngines(
  podman: Podman,
  { limitsMemory = mayLimitMemory, images = "" }: EngineFacts = {},
) {
  const noMemoryLimit = async ({ weakLimits }: SandboxNeeds) =>
    weakLimits || (await limitsMemory())
      ? undefined
      : "no control group can limit the memory of its programs: this user may make none in a job; ask the administrator to let jobs have their own control groups, or set `weakLimits: true` in the profile";
  const engines: SandboxEngine[] = [
    {
      kind: "bubblewrap",
      open: bubblewrapWalls,
      async missing(needs) {
        if (needs.image !== undefined) return "bubblewrap shows the node's own programs, and no image";
        return (await bubblewrapMissing()) ?? (await noMemoryLimit(needs));
      },
    },
    {
      kind: "podman",
      ...podman,
      missing: async (needs) => (await podman.missing(needs)) ?? (await startTrouble("podman", podman.open)),
    },
    {
      kind: "apptainer",
      open: (request) => apptainerWalls(request, { images }),
      async prepare(image) {
        const able = await apptainerAbilities();
        if ("missing" in able) throw new Error(able.missing);
        await ensureSif(image, { program: able.program, folder: images });
      },
      async missing(needs) {
        const able = await apptainerAbilities();
        if ("missing" in able) return able.missing;
        return (await noMemoryLimit(needs)) ?? (await startTrouble("apptainer", apptainerWalls));
      },
    },
  ];
  return engines;
}

export type ChosenEngine =
  | { kind: "chosen"; engine: SandboxEngine; passed: string[] }
  | { kind: "none"; passed: string[] };

/** The first that can isolate the agent. `passed` says why each one before it cannot. */
export async function firstEngine(
  engines: readonly SandboxEngine[],
  needs: SandboxNeeds,
): Promise<ChosenEngine> {
  const passed: string[] = [];
  for (const engine of engines) {
    const why = await engine.missing(needs);
    if (why === undefined) return { kind: "chosen", engine, passed };
    passed.push(`${engine.kind}: ${why}`);
  }
  return { kind: "none", passed };
}
