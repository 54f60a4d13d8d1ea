// Checks transfers into and out of a folder that hostile programs have prepared.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../processes.ts";
import type { Check } from "./sandbox-lab.ts";

const mib = 1 << 20;

export function checkFiles(check: Check): void {
  check("a submission full of links, pipes, odd names and depth leads the harness nowhere", async (at) => {
    const secret = join(at.outside, "secret");
    writeFileSync(secret, "untouched");
    const { seen } = await at.tells("tricks", at.inside("workspace/submission"), secret);
    assert.equal(seen.deep, 300);
    assert.match(seen.hardlink, /^(EXDEV|EPERM|EROFS|EACCES)$/);
    const to = join(at.outside, "snapshot");
    const taken = await at.sandbox.snapshot({
      inside: "workspace/submission",
      to,
      limits: { bytesMax: mib, filesMax: 1000 },
    });
    if (taken.kind === "taken") {
      for (const { path } of taken.tree.files)
        assert.match(path, /^(plain|second|closed|shut\/inside|sparse)$/);
      const kept = Object.fromEntries(taken.tree.leftOut.map(({ path, why }) => [path, why]));
      assert.equal(kept.link, "symbolic link");
      assert.equal(kept.pipe, "named pipe");
    } else assert.equal(taken.kind, "over-limits"); // where the file system allows such a large sparse file
    for (const path of ["link", "procfs", "up/up", "pipe", "socket", "loop"])
      assert.equal(
        await at.sandbox.get(`workspace/submission/${path}`, { from: 0, bytesMax: 99 }),
        undefined,
        path,
      );
    // what the harness puts where links lie goes beside them, never through them
    const file = join(at.outside, "given");
    writeFileSync(file, "given");
    await at.sandbox.put(file, "workspace/submission/link");
    await assert.rejects(at.sandbox.put(file, "workspace/submission/up/escaped"), /up/);
    assert.equal(readFileSync(secret, "utf8"), "untouched");
    assert.equal(
      Buffer.from((await at.sandbox.get("workspace/submission/link", { from: 0, bytesMax: 9 }))!).toString(),
      "given",
    );
  });

  check("a path that is swapped for a link neither receives files nor reveals its target", async (at) => {
    const secret = join(at.outside, "secret");
    mkdirSync(secret);
    writeFileSync(join(secret, "file"), "untouched");
    chmodSync(secret, 0o700);
    const before = statSync(join(secret, "file"));
    const running = at.starts("swaps", at.inside("workspace/submission/swap"), secret);
    await until("swapping", () => at.said().includes("swapping"));
    const given = join(at.outside, "given");
    mkdirSync(given);
    writeFileSync(join(given, "file"), "given");
    for (let round = 0; round < 150; round++) {
      await at.sandbox.put(join(given, "file"), "workspace/submission/swap/x/file").catch(() => {});
      await at.sandbox.put(given, "workspace/submission/swap/x").catch(() => {});
      const got = await at.sandbox.get("workspace/submission/swap/x/file", { from: 0, bytesMax: 99 });
      assert.notEqual(got && Buffer.from(got).toString(), "untouched");
    }
    await at.sandbox.kill();
    await running;
    assert.deepEqual(readdirSync(secret), ["file"]);
    assert.equal(readFileSync(join(secret, "file"), "utf8"), "untouched");
    const after = statSync(join(secret, "file"));
    assert.deepEqual([after.uid, after.mode, after.ino], [before.uid, before.mode, before.ino]);
    assert.equal(statSync(secret).mode & 0o777, 0o700);
  });

  check("a file that is put while programs run is theirs", async (at) => {
    await at.runs(["true"]);
    const file = join(at.outside, "later.txt");
    writeFileSync(file, "later", { mode: 0o600 });
    await at.sandbox.put(file, "workspace/notes/later.txt");
    const { text } = await at.runs([
      "sh",
      "-c",
      "cat notes/later.txt && echo more >> notes/later.txt && rm -r notes && ls",
    ]);
    assert.equal(text, "laterdata\nsubmission\n");
  });

  check("after close nothing is left on the host", async (at) => {
    await at.tells("tricks", at.inside("workspace/submission"), "/etc/hosts");
    void at.starts("escapes").catch(() => {});
    await until("the three", () => at.alive().length >= 3);
    await at.sandbox.close();
    assert.deepEqual(at.alive(), []);
    assert.deepEqual(readdirSync(at.under), []);
  });
}
