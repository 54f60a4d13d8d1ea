// File systems of a few megabytes, which a test can fill.
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { type Lab, lab } from "./lab.ts";
import type { Repository } from "./throw-away-repository.ts";

export type SmallDisk = {
  /** The folder that the file system is mounted on; an ordinary one where none can be mounted. */
  root: string;
  /** Why none can be mounted here. */
  trouble?: string;
  grow(size: string): void;
};

/** `size` as mount's tmpfs takes it, with further options after it: `8m,nr_inodes=120`. Unmounted after the test. */
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

/** A lab on such a file system; undefined where none can be mounted: then the test is skipped. */
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
