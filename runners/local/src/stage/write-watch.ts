// Finds out whether a program wrote to a file while a stage ran (write_watch.py): a new hard link, owner or mode
// changes a file's ctime, as an edit does that is undone with its time set back.
import { spawn } from "node:child_process";
import { statfsSync } from "node:fs";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { helperPython } from "../process/spawner.ts";
import { ifReadable } from "../store/if-readable.ts";

/** Whether it is certain that no program wrote to the file, moved or replaced it since the watch began. */
export type IsUntouched = (path: string) => Promise<boolean>;

/** Watches from the moment when the promise resolves. `paths` are absolute. */
export async function watchWrites(paths: string[]): Promise<IsUntouched> {
  const marks = await marksOf(paths);
  const before = new Map(paths.map((path, index) => [path, marks[index]]));
  return async (path) => {
    const [mark] = await marksOf([path]);
    return typeof mark === "string" && mark === before.get(path) && isLocal(path);
  };
}

type Ask = (paths: string[]) => Promise<(string | null)[]>;

let helper: Ask | undefined;

/** One helper process serves all runs of this process, and ends with it. Without an answer, no file has a mark. */
const marksOf: Ask = (paths) => {
  helper ??= process.platform === "linux" ? startHelper() : async () => [];
  return helper(paths);
};

/** Time for Python to answer, as for the helper that starts programs. */
const answerMs = 5_000;

function startHelper(): Ask {
  const program = fileURLToPath(new URL("write_watch.py", import.meta.url));
  const child = spawn(helperPython, ["-I", "-S", "-B", program], {
    cwd: "/",
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting: ((marks: (string | null)[]) => void)[] = [];
  const hold = (on: boolean) => {
    for (const one of [child, child.stdin as Socket, child.stdout as Socket]) on ? one.ref() : one.unref();
  };
  const lose = () => {
    helper = async () => [];
    child.kill("SIGKILL");
    for (const answer of waiting.splice(0)) answer([]);
  };
  child.on("error", lose).on("close", lose);
  child.stdin.on("error", () => {}); // `close` reports the end
  createInterface({ input: child.stdout }).on("line", (line) => {
    waiting.shift()?.(JSON.parse(line));
    if (waiting.length === 0) hold(false);
  });
  return (paths) => {
    const { promise, resolve } = Promise.withResolvers<(string | null)[]>();
    waiting.push(resolve);
    hold(true);
    child.stdin.write(`${JSON.stringify(paths)}\n`);
    const late = setTimeout(lose, answerMs);
    return promise.finally(() => clearTimeout(late));
  };
}

/** ext, XFS, Btrfs, tmpfs, overlay, F2FS, ZFS: no other host writes there, unseen by this kernel. */
const local = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1]);

function isLocal(path: string): boolean {
  return local.has(ifReadable(() => statfsSync(path).type) ?? 0);
}
