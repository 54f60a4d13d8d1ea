// Measures at intervals how much disk a sandbox uses: no engine limits the files in a folder of the host. Where the
// folder is no file system of its own, a program may write more between two measurements.
import { readdirSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { OverLimit } from "@mlrb/core/ports/sandbox";
import { diskImageUse, hasDiskImage } from "@mlrb/kit/files/disk-image";
import { execa } from "execa";

export type DiskMeter = {
  /** Measures now. Undefined within the limit. */
  look(): Promise<OverLimit | undefined>;
  stop(): void;
};

export type DiskMeterOptions = {
  folder: string;
  limitBytes: number;
  /** The sandbox's processes by their ids on the host, for files without a name; empty if unknown. */
  pids: () => number[];
  /** Called once. */
  over(limit: OverLimit): void;
};

const pauseMs = 250;
/** A file system can run out of inodes too: ext4 has one for every 16 KiB (mke2fs.conf, inode_ratio). */
const bytesPerInode = 16_384;

export function startDiskMeter({ folder, limitBytes, pids, over }: DiskMeterOptions): DiskMeter {
  const stopping = new AbortController();
  const device = statSync(folder).dev;
  const look = async (): Promise<OverLimit | undefined> => {
    const used = hasDiskImage(folder)
      ? diskImageUse(folder)
      : (await namedBytes(folder)) + namelessBytes(pids(), device);
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
      // measuring takes the sandbox's disk and CPU: at most a tenth of the time
      pause = Math.max(pauseMs, 9 * (performance.now() - begun));
    }
  })();
  return { look, stop: () => stopping.abort() };
}

/** Bytes of its files and folders, each at least an inode's share; 0 if du fails. */
async function namedBytes(folder: string): Promise<number> {
  const [blocks, inodes] = await Promise.all([
    counted("--block-size=1", folder),
    counted("--inodes", folder),
  ]);
  return Math.max(blocks, inodes * bytesPerInode);
}

async function counted(what: string, folder: string): Promise<number> {
  const du = ["du", "--summarize", "--one-file-system", what, "--", folder];
  // a program inside may take its folders' permissions from its own user, who is this one; root of a user namespace
  // still reads them
  const argv = process.getuid?.() === 0 ? du : ["unshare", "--user", "--map-root-user", ...du];
  const quiet = { reject: false, stderr: "ignore", stdin: "ignore" } as const;
  const { stdout } = await execa(argv[0]!, argv.slice(1), quiet);
  return Number(/^(\d+)\t/.exec(stdout ?? "")?.[1] ?? 0);
}

/** Bytes on `device` in deleted files that are still open. */
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

/** A process may end during any of these calls. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
