// Walls by bubblewrap, for hosts without a container engine. Under root, programs run as a host user without an account.
// Otherwise they run as this process's user, in a user namespace.
import { statSync } from "node:fs";
import type { Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { removeControlGroups } from "@mlrb/kit/processes/control-groups";
import { endProcesses } from "@mlrb/kit/processes/end-processes";
import { bubblewrapAbilities } from "./bubblewrap-abilities.ts";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { startBubblewrap } from "./bubblewrap-process.ts";
import { initProgram, NamespaceWalls } from "./namespace-walls.ts";

/** Programs run as the owner of `request.folder`. Throws, with the reason, where bubblewrap cannot be used. */
export async function bubblewrapWalls(request: WallsRequest): Promise<Walls> {
  const asRoot = process.getuid?.() === 0;
  const { uid, gid } = statSync(request.folder);
  if (asRoot && uid === 0)
    throw new Error("bug: programs behind walls would be root; give their folder to another user");
  const able = await bubblewrapAbilities();
  if ("missing" in able) throw new Error(able.missing);
  const { version, countsProcessesApart, canSize, python } = able;
  const user = { uid, gid };
  return new NamespaceWalls(request, {
    ...{ kind: "bubblewrap", version, countsProcessesApart, user: asRoot ? user : undefined },
    async start({ readOnly, seccomp, initArguments, groups }) {
      const facts = { user, asRoot, canSize, python, readOnly };
      const walls = bubblewrapArguments(request, facts, { init: initProgram, seccomp });
      return await startBubblewrap(walls, initArguments, groups, request.token);
    },
  });
}

/**
 * Clears up after a killed supervisor. Its programs are usually dead, but its control groups still exist, and a
 * bubblewrap that had just started may wait for ever.
 */
export async function clearBubblewrap(token: string): Promise<void> {
  await endProcesses({ token, root: "/nonexistent", groups: [] });
  await removeControlGroups(token);
}
