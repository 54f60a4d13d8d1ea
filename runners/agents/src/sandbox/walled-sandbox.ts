// A sandbox for programs that nobody vouches for: its files lie in a folder of the host, which the harness reads
// and writes without trusting a single name in it, and its programs run behind walls that are opened when the
// first of them is started, since only then is it known what may not be written inside.
import { join } from "node:path";
import type { Sandbox, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { sandboxFolder } from "./sandbox-folder.ts";
import { sandboxUser } from "./sandbox-user.ts";
import { startGate } from "./start-gate.ts";

/** What is asked of the walls; the token holds letters, digits and dashes. */
type WallsSettings = Pick<WallsRequest, "reads" | "network" | "limits" | "gpus" | "image" | "token">;

export type WalledSandboxOptions = WallsSettings & {
  /** The host folder under which the sandbox's own is made. */
  under: string;
  /** For messages. */
  agent: string;
  /** What builds the walls, e.g. `bubblewrapWalls`. */
  open(request: WallsRequest): Promise<Walls>;
  /** What they are to be called before they stand, e.g. `bubblewrap`. */
  kind: string;
};

export type WalledSandbox = Sandbox & {
  /** In what its programs ran; undefined before the first. */
  where(): Record<string, string> | undefined;
};

/** The same for every attempt: where the sandbox lies on the host is told to nobody inside. */
const seenAs = "/attempt";

export async function walledSandbox(options: WalledSandboxOptions): Promise<WalledSandbox> {
  const { under, agent, open, kind, ...asked } = options;
  const owner = process.getuid?.() === 0 ? sandboxUser(options.token) : undefined;
  const folder = await sandboxFolder(under, owner);
  const readOnly: string[] = [];
  let opening: Promise<Walls> | undefined;
  let walls: Walls | undefined;

  const stand = async () => {
    opening ??= open({ ...asked, folder: folder.root, seenAs, readOnly });
    walls = await opening;
    return walls;
  };

  const standing = () => opening?.catch(() => undefined);
  const gate = startGate({
    async exec(request) {
      let now: Walls;
      try {
        now = await stand();
      } catch (error) {
        opening = undefined;
        return { kind: "lost", detail: `agent "${agent}": ${(error as Error).message}` };
      }
      const own = { HOME: join(seenAs, "home"), TMPDIR: join(seenAs, "tmp") };
      return now.exec({ ...request, env: { ...request.env, ...own } });
    },
    // where no walls stand nothing runs
    freeze: async () => (await (await standing())?.freeze()) ?? true,
    thaw: async () => (await (await standing())?.thaw()) ?? true,
    kill: async () => (await standing())?.kill(),
  });

  return {
    kind,
    where: () => walls?.where,
    seenAs: (inside) => join(seenAs, inside),
    ...gate,
    async put(from, inside, how = {}) {
      if (how.readOnly && opening)
        throw new Error(
          `agent "${agent}": ${inside} cannot be added read-only once programs run; add it before the first of them, or writable`,
        );
      await folder.put(from, inside, how);
      if (how.readOnly) readOnly.push(inside);
    },
    get: folder.get,
    snapshot: folder.snapshot,
    listen: folder.listen,
    shed: async () => ({ freedBytes: await folder.shed(), limitBytes: asked.limits.diskBytes }),
    async close({ keepFiles = false } = {}) {
      await (await standing())?.close();
      if (!keepFiles) await folder.remove();
    },
  };
}
