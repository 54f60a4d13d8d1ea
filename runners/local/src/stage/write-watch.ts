// Finds out what programs wrote, moved or replaced while a stage ran (write_watch.py). A new hard link, owner or
// mode changes a file's ctime, as an edit does that is undone with its time set back; and fs.watch cannot tell
// them apart.
import { spawn } from "node:child_process";
import { statfsSync } from "node:fs";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { helperPython } from "../process/spawner-helper.ts";
import { ifReadable } from "../store/if-readable.ts";

/**
 * The names with an event in a folder since the watch began; "" is the path itself. Undefined if something may
 * have happened unseen.
 */
export type EventsSince = (path: string) => Promise<string[] | undefined>;

/** Watches from the moment when the promise resolves. `paths` are absolute. */
export async function watchWrites(paths: string[]): Promise<EventsSince> {
  const answers = await ask(paths);
  const before = new Map(paths.map((path, index) => [path, answers[index]]));
  return async (path) => {
    const [then, [now]] = [before.get(path), await ask([path])];
    const names = then && now && Object.keys(now).filter((name) => now[name] !== then[name]);
    return names?.length === 0 && !isLocal(path) ? undefined : (names ?? undefined);
  };
}

type Events = Record<string, unknown> | null;
type Ask = (paths: string[]) => Promise<Events[]>;

/** One helper process serves all runs of this process, and ends with it. Without an answer, nothing is known. */
let ask: Ask = (paths) => {
  ask = process.platform === "linux" ? startHelper() : async () => [];
  return ask(paths);
};

/** Time for Python to answer, as for the helper that starts programs. */
const answerMs = 5_000;

function startHelper(): Ask {
  const program = fileURLToPath(new URL("write_watch.py", import.meta.url));
  const argv = ["-I", "-S", "-B", program];
  // detached: a Ctrl-C in the terminal is for the runner
  const child = spawn(helperPython, argv, { cwd: "/", detached: true, stdio: ["pipe", "pipe", "ignore"] });
  for (const one of [child, child.stdin as Socket, child.stdout as Socket]) one.unref();
  for (const one of [child, child.stdin]) one.on("error", () => {}); // its output ends, too
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (paths) => {
    child.stdin.write(`${JSON.stringify(paths)}\n`);
    const late = setTimeout(() => child.kill("SIGKILL"), answerMs);
    const { value } = await lines.next();
    clearTimeout(late);
    return value === undefined ? [] : JSON.parse(value);
  };
}

/** ext, XFS, Btrfs, tmpfs, overlay, F2FS, ZFS: no other host writes there, unseen by this kernel. */
const local = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1]);

function isLocal(path: string): boolean {
  return local.has(ifReadable(() => statfsSync(path).type) ?? 0);
}
