// A sandbox for untrusted programs. Its files are in a folder of the host, which the harness reads and writes
// without trusting a name in it. Its programs run behind walls. These are opened with the first program, when all
// read-only paths are known.
import { join } from "node:path";
import type { Sandbox, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { sandboxFolder } from "./sandbox-folder.ts";
import { killed, startGate } from "./start-gate.ts";

/** The token holds letters, digits and dashes. */
type WallsSettings = Omit<WallsRequest, "folder" | "seenAs" | "readOnly">;

export type WalledSandboxOptions = WallsSettings & {
  /** The host folder under which the sandbox's own is made. */
  under: string;
  /** For messages. */
  agent: string;
  /** The files of an attempt that continues, and its paths that are read-only inside. */
  earlier?: { root: string; readOnly: string[] } | undefined;
  /** Builds the walls, e.g. `bubblewrapWalls`. */
  open(request: WallsRequest): Promise<Walls>;
  /** The name of the kind, e.g. `bubblewrap`, before the walls are open. */
  kind: string;
};

/** The same for every attempt: programs inside must not see the sandbox's path on the host. */
const seenAs = "/attempt";

export async function walledSandbox(options: WalledSandboxOptions) {
  const { under, agent, open, kind, earlier, ...asked } = options;
  const owner = process.getuid?.() === 0 ? sandboxUser(options.token) : undefined;
  const folder = await sandboxFolder(under, {
    ...{ owner, diskBytes: asked.limits.diskBytes, earlier: earlier?.root },
  });
  const readOnly: string[] = [...(earlier?.readOnly ?? [])];
  let opening: Promise<Walls> | undefined;
  let walls: Walls | undefined;

  const stand = async () => {
    opening ??= open({ ...asked, folder: folder.root, seenAs, readOnly });
    walls = await opening;
    return walls;
  };

  const standing = () => opening?.catch(() => undefined);
  const { shut, ...programs } = startGate({
    async exec(request, wanted) {
      let now: Walls;
      try {
        now = await stand();
      } catch (error) {
        opening = undefined;
        return { kind: "lost", detail: `agent "${agent}": ${(error as Error).message}` };
      }
      if (!wanted()) return killed; // while the walls were opened
      const own = { HOME: join(seenAs, "home"), TMPDIR: join(seenAs, "tmp") };
      return now.exec({ ...request, env: { ...request.env, ...own } });
    },
    // before the walls are open nothing runs
    freeze: async () => (await (await standing())?.freeze()) ?? true,
    thaw: async () => (await (await standing())?.thaw()) ?? true,
    kill: async () => (await standing())?.kill(),
  });

  return {
    kind,
    /** Facts of the walls; undefined before the first program. */
    where: () => walls && { ...walls.where, diskLimit: folder.ownDisk() ? "kernel" : "polled" },
    seenAs: (inside) => join(seenAs, inside),
    ...programs,
    // an engine that hides its processes cannot
    freezePart: async (variable) => (await standing())?.freezePart?.(variable),
    ...folder.files,
    async put(from, inside, how = {}) {
      if (how.readOnly && opening)
        throw new Error(
          `agent "${agent}": ${inside} cannot be added read-only once programs run; add it before the first of them, or writable`,
        );
      await folder.files.put(from, inside, how);
      if (how.readOnly) readOnly.push(inside);
    },
    shed: async () => ({ freedBytes: await folder.shed(), limitBytes: asked.limits.diskBytes }),
    async close({ keepFiles = false } = {}) {
      shut();
      await (await standing())?.close();
      await (keepFiles ? folder.keep() : folder.remove());
    },
  } satisfies Sandbox;
}
