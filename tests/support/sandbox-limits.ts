// Checks programs that exceed their limits.
import assert from "node:assert/strict";
import { type Check, suiteLimits } from "./sandbox-lab.ts";

export function checkLimits(check: Check): void {
  check("a fork bomb stops at the limit, is reported, and leaves room for the next program", async (at) => {
    const { seen, result } = await at.tells("forkBomb");
    assert.ok(seen.children >= 8 && seen.children <= suiteLimits.processes, String(seen.children));
    assert.equal("over" in result && result.over?.limit, "processes", JSON.stringify(result));
    await at.sandbox.kill();
    assert.deepEqual(at.alive(), []);
    assert.equal((await at.runs(["true"])).result.kind, "exited");
  });

  for (const where of ["one", "child", "shm", "tmp"] as const)
    check(
      {
        one: "a program that uses too much memory is stopped, and distinguished from a failing one",
        child: "a child that uses too much memory is reported, though its parent returns 0",
        shm: "shared memory counts as memory",
        tmp: "files in /tmp count as memory or as disk, and end",
      }[where],
      async (at) => {
        const { result, text } = await at.ends("memoryHog", where, 600);
        assert.doesNotMatch(text, /"written": 600/);
        const over = "over" in result ? result.over?.limit : undefined;
        // an in-memory folder with its own size limit refuses, which is equally good
        const refused = /"error": "(ENOSPC|EDQUOT|EFBIG)"/.test(text);
        assert.ok(
          over === "memory" || (["shm", "tmp"].includes(where) && (refused || over === "disk")),
          JSON.stringify({ result, text }),
        );
        assert.equal((await at.runs(["true"])).result.kind, "exited");
      },
    );

  for (const [how, most] of [
    ["files", 400],
    ["unlinked", 400],
    ["inodes", 50_000],
    ["huge", 400],
  ] as const)
    check(
      {
        files: "a program that fills the disk is ended with that reason",
        unlinked: "files without a name count as disk too",
        inodes: "a great many empty files count as disk too",
        huge: "one huge file ends the same way",
      }[how],
      async (at) => {
        const { result, text } = await at.ends("diskFiller", how, most);
        assert.equal("over" in result && result.over?.limit, "disk", JSON.stringify({ result, text }));
        assert.deepEqual(at.alive(), []);
      },
    );
}
