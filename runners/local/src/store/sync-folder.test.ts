import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { type TestContext, test } from "node:test";
import { syncFolder } from "./sync-folder.ts";

/** Returns the calls that sync a folder of `count` files, some of them nested, with or without a working `sync -f`. */
function synced(t: TestContext, count: number, works = true): { paths: string[]; whole: string[] } {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-sync-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "deep/deeper"), { recursive: true });
  for (let index = 0; index < count; index++)
    writeFileSync(join(folder, index % 2 ? "deep" : "", `f${index}`), "x");
  symlinkSync("/nowhere", join(folder, "link"));
  const paths: string[] = [];
  const whole: string[] = [];
  syncFolder(folder, {
    path: (path) => paths.push(relative(folder, path) || "."),
    fileSystem(path) {
      whole.push(relative(folder, path) || ".");
      return works;
    },
  });
  return { paths, whole };
}

test("few files are synced one by one, each before its folder", (t) => {
  const { paths, whole } = synced(t, 4);
  assert.deepEqual(whole, []);
  assert.deepEqual([...paths].sort(), [".", "deep", "deep/deeper", "deep/f1", "deep/f3", "f0", "f2"]);
  assert.equal(paths.at(-1), ".");
  assert.ok(paths.indexOf("deep/f1") < paths.indexOf("deep"));
});

test("many files are synced by one call for their file system", (t) => {
  assert.deepEqual(synced(t, 300), { paths: [], whole: ["."] });
});

test("many files are synced one by one if their file system cannot be synced as a whole", (t) => {
  const { paths } = synced(t, 300, false);
  assert.equal(paths.length, 300 + 3);
});

test("the machine's own calls sync a folder of many files without an error", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-sync-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (let index = 0; index < 250; index++) writeFileSync(join(folder, `f${index}`), "x");
  syncFolder(folder);
});
