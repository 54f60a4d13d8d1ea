// An ext4 file system in a file, to simulate a power cut. A copy of the file without a sync, while the file system
// is in use, has only what had reached the "disk".
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export type LoopDisk = { image: string; folder: string; unmount(): void };

/** Makes the file system and mounts it at `folder`. Returns a reason where that is not possible. */
export function makeDisk(at: { image: string; folder: string; bytes: number }): LoopDisk | string {
  writeFileSync(at.image, "");
  truncateSync(at.image, at.bytes);
  const made = spawnSync("mkfs.ext4", ["-q", "-F", at.image], { encoding: "utf8" });
  if (made.status !== 0) return `mkfs.ext4: ${made.error?.message ?? made.stderr.trim()}`;
  return mountDisk(at);
}

/** Copies the disk's contents of one moment to another image. False if it was written to during every try. */
export async function powerCut({ image }: LoopDisk, to: string): Promise<boolean> {
  for (let tries = 0; tries < 40; tries++) {
    const { mtimeMs } = statSync(image);
    // a write of the same tick would show no other time
    if (Date.now() - mtimeMs > 8) {
      copyFileSync(image, to);
      if (statSync(image).mtimeMs === mtimeMs) return true;
    }
    await sleep(5);
  }
  rmSync(to, { force: true });
  return false;
}

/** Mounts an image, which replays its journal, as after a power cut. */
export function mountDisk({ image, folder }: { image: string; folder: string }): LoopDisk | string {
  mkdirSync(folder, { recursive: true });
  // commit: seconds until ext4 writes metadata to the journal, the minimum; noauto_da_alloc: turns off ext4's
  // protection of programs that do not sync
  const { status, stderr, error } = spawnSync(
    "mount",
    ["-o", "loop,commit=1,noauto_da_alloc", image, folder],
    {
      encoding: "utf8",
    },
  );
  if (status !== 0) return `mount: ${error?.message ?? stderr.trim()}`;
  return { image, folder, unmount: () => void spawnSync("umount", ["-l", folder]) };
}
