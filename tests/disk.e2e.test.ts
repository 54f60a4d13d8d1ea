// A full or read-only disk gives a clear message and exit 1, and once there is space a run completes.
// Mounts file systems of a few megabytes, so it needs root on Linux.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { lab, leftovers, lineOf, results, summary } from "./support/lab.ts";
import { smallDisk } from "./support/machines/small-disk.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const mount = (...args: string[]) => spawnSync("mount", args, { encoding: "utf8" });

const noTrace = (text: string) =>
  assert.doesNotMatch(text, /^\s+at |This is a bug in mlrb|TypeError|SyntaxError/m);

/** `kib` of random bytes per stage. */
const heavy = (kib: number) => ({
  stages: {
    small: { command: "echo small > {outputs.text}", gives: { text: { file: "small.txt" } } },
    large: { command: `head -c ${kib * 1024} /dev/zero > {outputs.bytes}`, gives: { bytes: "file" } },
    after: {
      needs: ["large.bytes"],
      command: "wc -c < {inputs.bytes} > {outputs.count}",
      gives: { count: { file: "count.txt" } },
    },
  },
});

test("without space for an input, the stage fails with a full disk as the cause; with space, the next run completes", async (t) => {
  const at = smallDisk(t, repository, "2m");
  if (!at) return;
  at.define(heavy(1200)); // fits once in the store, but not a second time as an input
  const said = await at.run("--jobs", "1");
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.equal(lineOf(said, "large").outcome, "succeeded");
  const { failure, cause } = lineOf(said, "after");
  assert.equal(failure, "machine");
  assert.match(cause, /no space left on the disk; free some, or choose another --root, and run again/);
  noTrace(said.stdout + said.stderr);
  assert.deepEqual(leftovers(at), [], "the work folder does not keep the disk full");
  mount("-o", "remount,size=20m", at.root);
  const next = await at.run();
  assert.equal(next.code, 0, next.stdout + next.stderr);
  assert.equal(results(at)[`${at.name}/default/count.txt`]?.trim(), String(1200 * 1024));
});

test("a completely full disk, before or during a run, gives a message with a fix and exit 1, and breaks nothing", async (t) => {
  const at = smallDisk(t, repository, "8m");
  if (!at) return;
  at.define(heavy(64));
  const fill = join(at.root, "fill");
  const filling = () => spawnSync("dd", ["if=/dev/zero", `of=${fill}`, "bs=4096"]);
  filling();
  const first = await at.run();
  assert.equal(first.code, 1, first.stdout);
  assert.match(first.stdout + first.stderr, /no space left/i);
  assert.match(first.stdout + first.stderr, /free some/);
  noTrace(first.stderr);
  rmSync(fill);
  assert.equal((await at.run()).code, 0);

  const second = { ...heavy(65) };
  second.stages.large.command = `dd if=/dev/zero of='${fill}' bs=4096 2>/dev/null; head -c ${65 * 1024} /dev/zero > {outputs.bytes}`;
  at.define(second);
  const middle = await at.run();
  assert.equal(middle.code, 1, middle.stdout + middle.stderr);
  noTrace(middle.stderr);
  const human = await at.pipeline(["run", at.name, "--root", at.root]);
  assert.equal(human.code, 1);
  assert.match(human.stdout + human.stderr, /no space left|exit status 1/i);
  noTrace(human.stderr);
  rmSync(fill);
  at.define(heavy(65));
  const last = await at.run();
  assert.equal(last.code, 0, last.stdout + last.stderr);
  assert.equal(results(at)[`${at.name}/default/count.txt`]?.trim(), String(65 * 1024));
  assert.equal(summary(await at.run()).outcomes.reused, 3);
});

test("read-only commands work on a full disk, without the files that only save time", async (t) => {
  const at = smallDisk(t, repository, "8m");
  if (!at) return;
  const { small, ...others } = heavy(64).stages;
  at.define({ stages: { small: { ...small, files: [at.script("read.txt", "text")] }, ...others } });
  assert.equal((await at.run()).code, 0);
  rmSync(join(at.root, ".mlrb/cache/memory"), { recursive: true });
  spawnSync("dd", ["if=/dev/zero", `of=${join(at.root, "fill")}`, "bs=4096"]);
  for (const command of ["plan", "status"]) {
    const said = await at.pipeline([command, at.name, "--root", at.root]);
    assert.equal(said.code, 0, said.stdout + said.stderr);
    assert.match(said.stdout, /3 (up to date|to reuse)/);
  }
});

test("a disk without inodes is reported, and the run recovers", async (t) => {
  const at = smallDisk(t, repository, "8m,nr_inodes=120");
  if (!at) return;
  at.define({
    stages: {
      many: { command: "for i in $(seq 60); do echo $i > {outputs.all}/$i; done", gives: { all: "dir" } },
    },
  });
  const said = await at.run();
  assert.equal(said.code, 1, said.stdout);
  assert.match(said.stdout + said.stderr, /no space left/i);
  noTrace(said.stderr);
  mount("-o", "remount,nr_inodes=5000", at.root);
  const next = await at.run();
  assert.equal(next.code, 0, next.stdout + next.stderr);
  assert.equal(Object.keys(results(at)).length, 60);
});

test("a read-only root gives a message with its name and a fix, exit 1 and no stack trace, also for a plan", async (t) => {
  const at = smallDisk(t, repository, "4m");
  if (!at) return;
  at.define({ stages: { make: { command: "echo x > {outputs.text}", gives: { text: "file" } } } });
  mount("-o", "remount,ro", at.root);
  for (const command of ["run", "plan"]) {
    const said = await at.pipeline([command, at.name, "--root", at.root]);
    assert.equal(said.code, 1, said.stdout);
    assert.ok(said.stderr.includes(at.root), said.stderr);
    assert.match(said.stderr, /read-only; choose another --root/);
    noTrace(said.stderr);
  }
  mount("-o", "remount,rw", at.root);
  assert.equal((await at.run()).code, 0);
  mount("-o", "remount,ro", at.root);
  const again = await at.pipeline(["run", at.name, "--root", at.root]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /read-only; choose another --root/);
  noTrace(again.stderr);
});

test("a root that is a file, or is under one, is refused by name", async (t) => {
  const at = lab(t, repository);
  at.define({ stages: { make: { command: "true" } } });
  const file = join(at.outside, "a-file");
  writeFileSync(file, "");
  for (const root of [file, join(file, "below")]) {
    const said = await at.pipeline(["run", at.name, "--root", root]);
    assert.equal(said.code, 1, said.stdout);
    assert.ok(said.stderr.includes(file) && /not a (folder|directory)/i.test(said.stderr), said.stderr);
    noTrace(said.stderr);
  }
});
