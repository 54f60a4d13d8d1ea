// The disk of a stage in walls of another program: a limit for each file, as in the walls of the local executor.
import assert from "node:assert/strict";
import { chownSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { WallsRequest } from "@mlrb/core/ports/sandbox";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { bubblewrapMissing } from "./bubblewrap-abilities.ts";
import { bubblewrapWalls } from "./bubblewrap-walls.ts";

const missing = await bubblewrapMissing();

test("a stage's temporary files may together exceed the limit of each of them, and an attempt's may not", {
  skip: missing ?? false,
}, async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-stage-disk-")));
  t.after(() => removeFolder(folder));
  const token = "mlrb:stage-disk:1:";
  if (process.getuid?.() === 0) {
    const { uid, gid } = sandboxUser(token);
    chownSync(folder, uid, gid);
  }
  const request: WallsRequest = {
    ...{ folder, seenAs: "/stage", readOnly: [], reads: [], network: "none", gpus: [], token },
    limits: { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 22, cpus: 1 },
  };
  const end = async (script: string, more: Pick<WallsRequest, "writes"> = {}) => {
    const walls = await bubblewrapWalls({ ...request, ...more });
    try {
      const env = { PATH: "/usr/bin:/bin" };
      return await walls.exec({ argv: ["/bin/sh", "-c", script], cwd: "/stage", env, onOutput() {} });
    } finally {
      await walls.close();
    }
  };
  // the program fails at its end: then the limits are looked at once more
  const three = "for one in 1 2 3; do head -c 3000000 /dev/zero > $one; done; exit 7";
  assert.deepEqual(await end(three, { writes: [] }), { kind: "exited", code: 7 });
  const one = await end("head -c 9000000 /dev/zero > 4 && exit 0; exit 7", { writes: [] });
  assert.ok(one.kind === "exited" && one.code === 7);
  const attempt = await end(three);
  assert.ok("over" in attempt && attempt.over?.limit === "disk", JSON.stringify(attempt));
});
