// File systems of a few megabytes, which a test can fill.
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { type Lab, lab } from "../lab.ts";
import type { Repository } from "../throw-away-repository.ts";

export type SmallDisk = {
  /** The mount point; an ordinary folder where nothing can be mounted. */
  root: string;
  /** Why no file system can be mounted. */
  trouble?: string;
  grow(size: string): void;
};

/** `size` in the syntax of tmpfs, with further options: `8m,nr_inodes=120`. Unmounted after the test. */
export function mountSmallDisk(t: TestContext, size: string): SmallDisk {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-disk-")));
  const mount = (options: string) =>
    spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", root], { encoding: "utf8" });
  const { status, stderr, error } = mount(`size=${size}`);
  t.after(() => {
    spawnSync("umount", ["-l", root]);
    removeFolder(root);
  });
  return {
    root,
    ...(status !== 0 && { trouble: String(stderr ?? error?.message) }),
    grow: (more) => void mount(`remount,size=${more}`),
  };
}

/** A lab on such a file system. Returns undefined, and skips the test, where none can be mounted. */
export function smallDisk(
  t: TestContext,
  repository: Repository,
  size = "16m",
): (Lab & Pick<SmallDisk, "grow">) | undefined {
  const { root, trouble, grow } = mountSmallDisk(t, size);
  if (trouble === undefined) return { ...lab(t, repository, { root }), grow };
  t.skip(`no file system can be mounted here: ${trouble}`);
  return undefined;
}
