import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { restorePoint as format, type RestorePointEntry } from "@mlrb/formats/attempt/restore-point";
import { readFormat } from "@mlrb/formats/read-format";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { mountSmallDisk } from "../../../../tests/support/machines/small-disk.ts";
import { base } from "../testing/scripted-scaffold.ts";
import { copyToRestorePoint, putRestorePointBack } from "./copy-restore-point.ts";

function places(t: TestContext) {
  const folder = base(t);
  const at = (name: string) => join(folder, name);
  for (const name of ["root", "contents", "outside"]) mkdirSync(at(name));
  writeFileSync(at("contents/1"), "evil");
  return { root: at("root"), contents: at("contents"), outside: at("outside") };
}

const file: RestorePointEntry = { path: "workspace/x", kind: "file", mode: 0o644, bytes: 4, content: "1" };
const restorePoint = (entries: RestorePointEntry[]) => ({
  formatVersion: 1 as const,
  after: 1,
  workingMs: 1,
  entries,
});

test("nothing is written through a link of the restore point, as a name or as a folder", async (t) => {
  const { root, contents, outside } = places(t);
  const link = { path: "workspace/x", kind: "link" as const, mode: 0o777, target: join(outside, "victim") };
  await putRestorePointBack(root, contents, restorePoint([link, file]), undefined);
  assert.equal(readlinkSync(join(root, "workspace/x")), link.target);
  const inner = { ...file, path: "workspace/y/victim" };
  const folder = { ...link, path: "workspace/y", target: outside };
  await assert.rejects(
    putRestorePointBack(root, contents, restorePoint([folder, inner]), undefined),
    /y in workspace\/y is no folder/,
  );
  assert.equal(existsSync(join(outside, "victim")), false);
});

test("a folder that its owner may not write comes back with its files", async (t) => {
  const { root, contents } = places(t);
  const from = join(root, "../from");
  mkdirSync(join(from, "workspace/modules/deep"), { recursive: true });
  writeFileSync(join(from, "workspace/modules/deep/f"), "text");
  symlinkSync("f", join(from, "workspace/modules/deep/l"));
  for (const path of ["deep", ""]) chmodSync(join(from, "workspace/modules", path), 0o555);
  let count = 1;
  const taken = await copyToRestorePoint(from, {
    ...{ contents, folders: ["workspace"], without: [], before: [], signal: new AbortController().signal },
    newContent: () => String(++count),
  });
  assert.ok(typeof taken !== "string");
  await putRestorePointBack(root, contents, restorePoint(taken.entries), undefined);
  assert.equal(readFileSync(join(root, "workspace/modules/deep/l"), "utf8"), "text");
  for (const path of ["deep", ""])
    assert.equal(statSync(join(root, "workspace/modules", path)).mode & 0o777, 0o555);
});

/** Restore points `root`, whose contents get numbers from `count` on. */
async function copied(root: string, contents: string, before: RestorePointEntry[] = []) {
  let count = readdirSync(contents).length;
  const taken = await copyToRestorePoint(root, {
    ...{ contents, folders: ["home", "workspace"], without: [], before },
    ...{ signal: new AbortController().signal, newContent: () => String(++count) },
  });
  assert.ok(typeof taken !== "string", String(taken));
  return taken;
}

/** A file of two MiB with six names, and two small files of equal bytes. */
function withLinks(from: string) {
  mkdirSync(join(from, "home"), { recursive: true });
  mkdirSync(join(from, "workspace"));
  writeFileSync(join(from, "home/cached"), Buffer.alloc(2 << 20, 7));
  for (let n = 0; n < 5; n++) linkSync(join(from, "home/cached"), join(from, `workspace/venv${n}`));
  for (const name of ["one", "two"]) writeFileSync(join(from, "workspace", name), "equal");
}

test("a file with many names is copied once, and has them all after a restore", async (t) => {
  const { root, contents } = places(t);
  const from = join(root, "../from");
  withLinks(from);
  const taken = await copied(from, contents);
  assert.deepEqual([taken.copiedBytes, taken.entries.length, readdirSync(contents).length], [2097162, 8, 4]);
  const { copiedBytes } = await copied(from, contents, taken.entries);
  assert.equal(copiedBytes, 0);
  await putRestorePointBack(root, contents, restorePoint(taken.entries), undefined);
  const at = (path: string) => statSync(join(root, path));
  for (let n = 0; n < 5; n++) assert.equal(at(`workspace/venv${n}`).ino, at("home/cached").ino);
  assert.equal(at("home/cached").nlink, 6);
  assert.deepEqual(readFileSync(join(root, "workspace/venv4")), Buffer.alloc(2 << 20, 7));
  assert.notEqual(at("workspace/one").ino, at("workspace/two").ino, "no names of one file");
});

test("no entry of a list leads out of the sandbox, as a file, a link or a folder", async (t) => {
  const { root, contents, outside } = places(t);
  chmodSync(outside, 0o700);
  mkdirSync(join(root, "workspace"));
  for (const [kind, path] of [
    ["file", "workspace/../../outside/victim"],
    ["link", "workspace/../../outside/victim"],
    ["folder", "workspace/../../outside"],
    ["folder", "workspace/../../outside/victim"],
    ["file", ".."],
    ["file", "workspace/"],
    ["file", "workspace/./x"],
  ] as const)
    await assert.rejects(
      putRestorePointBack(root, contents, restorePoint([{ ...file, kind, path, target: "x" }]), undefined),
      /is no path inside a folder/,
      path,
    );
  assert.deepEqual(readdirSync(outside), []);
  assert.equal(statSync(outside).mode & 0o777, 0o700);
});

test("a list whose paths lead out of the sandbox follows no format", () => {
  const isRead = (path: string) =>
    readFormat(format, JSON.stringify(restorePoint([{ ...file, path }]))).kind === "ok";
  for (const path of ["a", "workspace/..x/.y/...", "a\nb/c d"]) assert.ok(isRead(path), path);
  for (const path of [
    "",
    "/a",
    "a/",
    "a//b",
    "..",
    "a/..",
    "../a",
    "a/../b",
    "./a",
    "a/./b",
    "a\n/..",
    "a\0",
  ])
    assert.ok(!isRead(path), path);
});

test("a restore point that does not fit is refused as a full disk, and its hard links take no room", async (t) => {
  const { contents, outside } = places(t);
  const { root, trouble, grow } = mountSmallDisk(t, "1m");
  if (trouble !== undefined) return t.skip(trouble);
  withLinks(join(outside, "from"));
  const { entries } = await copied(join(outside, "from"), contents);
  const restore = (to: string) => {
    mkdirSync(join(root, to));
    return putRestorePointBack(join(root, to), contents, restorePoint(entries), undefined);
  };
  await assert.rejects(restore("first"), (error) => isFullDisk(error));
  grow("6m");
  await restore("second");
});
