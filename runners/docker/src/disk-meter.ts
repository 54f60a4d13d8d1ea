// Looks now and then at what a sandbox has taken of the disk: no engine holds the files of a folder of the host to a
// limit. Between two looks a program may go beyond it by what it manages to write in that time.
import { readdirSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { OverLimit } from "@mlrb/core/ports/sandbox";
import { execa } from "execa";

export type DiskMeter = {
  /** Over its limit right now; undefined where it is not. */
  look(): Promise<OverLimit | undefined>;
  stop(): void;
};

export type DiskMeterOptions = {
  folder: string;
  limitBytes: number;
  /** The processes of the sandbox as the host numbers them, for files without a name; empty where nobody knows. */
  pids: () => number[];
  /** Called once. */
  over(limit: OverLimit): void;
};

const pauseMs = 250;
/** A file system runs out of inodes as of bytes: ext4 has one for every 16 KiB (mke2fs.conf, inode_ratio). */
const bytesPerInode = 16_384;

export function startDiskMeter({ folder, limitBytes, pids, over }: DiskMeterOptions): DiskMeter {
  const stopping = new AbortController();
  const device = statSync(folder).dev;
  const look = async (): Promise<OverLimit | undefined> => {
    const used = (await namedBytes(folder)) + namelessBytes(pids(), device);
    if (used <= limitBytes) return undefined;
    return { limit: "disk", detail: `its files together took ${used} bytes of ${limitBytes}` };
  };
  void (async () => {
    let pause = pauseMs;
    for (;;) {
      await sleep(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      if (stopping.signal.aborted) return;
      const begun = performance.now();
      const found = await look();
      if (stopping.signal.aborted) return;
      if (found) return over(found);
      // looking costs the sandbox its disk and its core: at most a tenth of the time
      pause = Math.max(pauseMs, 9 * (performance.now() - begun));
    }
  })();
  return { look, stop: () => stopping.abort() };
}

/** What its files and folders take, each at least an inode's share; 0 where du cannot tell. */
async function namedBytes(folder: string): Promise<number> {
  const [blocks, inodes] = await Promise.all([
    counted("--block-size=1", folder),
    counted("--inodes", folder),
  ]);
  return Math.max(blocks, inodes * bytesPerInode);
}

async function counted(what: string, folder: string): Promise<number> {
  const du = ["du", "--summarize", "--one-file-system", what, "--", folder];
  // a program inside may close its folders to its own user, who is this one; root of a user namespace reads them
  const argv = process.getuid?.() === 0 ? du : ["unshare", "--user", "--map-root-user", ...du];
  const quiet = { reject: false, stderr: "ignore", stdin: "ignore" } as const;
  const { stdout } = await execa(argv[0]!, argv.slice(1), quiet);
  return Number(/^(\d+)\t/.exec(stdout ?? "")?.[1] ?? 0);
}

/** Bytes on the disk `device` in files that have no name any more and are still open. */
function namelessBytes(pids: readonly number[], device: number): number {
  const found = new Map<number, number>();
  for (const pid of pids) {
    for (const name of attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      const stats = attempt(() => statSync(`/proc/${pid}/fd/${name}`));
      if (stats?.isFile() && stats.nlink === 0 && stats.dev === device)
        found.set(stats.ino, 512 * stats.blocks);
    }
  }
  return [...found.values()].reduce((all, one) => all + one, 0);
}

/** A process may end at any look. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
