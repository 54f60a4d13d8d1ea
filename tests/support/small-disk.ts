// A lab on a file system of a few megabytes, which a test can fill.

import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { removeFolder } from "@mlrb/kit/remove-folder";
import { type Lab, lab } from "./lab.ts";
import type { Repository } from "./throw-away-repository.ts";

/** Undefined where no file system can be mounted: then the test is skipped. */
export function smallDisk(t: TestContext, repository: Repository): Lab | undefined {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-disk-")));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", root]);
  t.after(() => {
    spawnSync("umount", ["-l", root]);
    removeFolder(root);
  });
  if (status === 0) return lab(t, repository, { root });
  t.skip("no file system can be mounted here");
  return undefined;
}
