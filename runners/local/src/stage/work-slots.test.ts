import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { WorkSlots } from "./work-slots.ts";

function slots(t: TestContext): { slots: WorkSlots; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-slots-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { slots: new WorkSlots(folder), folder };
}

const left = (path: string) =>
  ["out", "tmp", "in", "."]
    .flatMap((part) => readdirSync(join(path, part)).map((name) => `${part}/${name}`))
    .sort();

test("a folder is reused without any file of the previous stage", (t) => {
  const { slots: all, folder } = slots(t);
  const outside = join(folder, "a-content");
  writeFileSync(outside, "content");
  const first = all.take({ fresh: false });
  writeFileSync(join(first, "out/half"), "x");
  mkdirSync(join(first, "tmp/cache/deep"), { recursive: true });
  writeFileSync(join(first, "tmp/cache/deep/file"), "x");
  symlinkSync("/etc/passwd", join(first, "in/link"));
  linkSync(outside, join(first, "in/linked"));
  writeFileSync(join(first, "in/large"), Buffer.alloc(100_000));
  mkdirSync(join(first, "in/folder"));
  writeFileSync(join(first, "in/small"), "to be overwritten");
  writeFileSync(join(first, "stray"), "x");
  all.give(first);
  const second = all.take({ fresh: false });
  assert.equal(second, first);
  assert.deepEqual(left(second), ["./in", "./out", "./tmp", "in/small"]);
  assert.equal(readFileSync(outside, "utf8"), "content");
});

test("two concurrent stages have two folders, and a stage that needs a fresh folder gets one", (t) => {
  const { slots: all } = slots(t);
  const [one, two] = [all.take({ fresh: false }), all.take({ fresh: false })];
  assert.notEqual(one, two);
  all.give(one);
  const fresh = all.take({ fresh: true });
  assert.ok(fresh !== one && fresh !== two);
  all.give(fresh);
  assert.equal(existsSync(fresh), false, "and it goes with its stage");
  assert.equal(all.take({ fresh: false }), one);
});

test("what a stage leaves is removed, however soon after the last one it came", (t) => {
  const { slots: all } = slots(t);
  for (let turn = 0; turn < 200; turn++) {
    const path = all.take({ fresh: false });
    for (const part of ["tmp", "in"]) assert.deepEqual(readdirSync(join(path, part)), [], `turn ${turn}`);
    if (turn % 3 > 0) for (const part of ["tmp", "in"]) mkdirSync(join(path, part, "left"));
    all.give(path);
  }
});

const spoiled: Record<string, (path: string) => void> = {
  "that was made unreadable": (path) => chmodSync(join(path, "out"), 0),
  "that is a link now": (path) => {
    rmSync(join(path, "tmp"), { recursive: true });
    symlinkSync("/tmp", join(path, "tmp"));
  },
  "of which a part is gone": (path) => rmSync(join(path, "in"), { recursive: true }),
};
for (const [what, spoil] of Object.entries(spoiled)) {
  test(`a folder ${what} is not reused`, (t) => {
    const { slots: all } = slots(t);
    const first = all.take({ fresh: false });
    spoil(first);
    all.give(first);
    const second = all.take({ fresh: false });
    assert.notEqual(second, first);
    assert.deepEqual(left(second), ["./in", "./out", "./tmp"]);
  });
}
