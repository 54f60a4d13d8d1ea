// An ext4 file system in a file. The file is what a disk holds when the power goes: copying it while it is
// mounted and written to, without a sync, keeps what had reached the "disk" and loses the rest.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";

export type LoopDisk = { image: string; folder: string; unmount(): void };

/** Makes the file system and mounts it at `folder`; a reason where that is not possible. */
export function makeDisk(at: { image: string; folder: string; bytes: number }): LoopDisk | string {
  writeFileSync(at.image, "");
  truncateSync(at.image, at.bytes);
  const made = spawnSync("mkfs.ext4", ["-q", "-F", at.image], { encoding: "utf8" });
  if (made.status !== 0) return `mkfs.ext4: ${made.error?.message ?? made.stderr.trim()}`;
  return mountDisk(at);
}

/** What the disk holds at this moment, as another image. */
export function powerCut({ image }: LoopDisk, to: string): void {
  copyFileSync(image, to);
}

/** Mounts an image; its journal is replayed, as after a power cut. */
export function mountDisk({ image, folder }: { image: string; folder: string }): LoopDisk | string {
  mkdirSync(folder, { recursive: true });
  // commit: seconds until metadata go to the journal by themselves, the least there is; noauto_da_alloc:
  // without ext4's kindness to programs that forget to sync
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
