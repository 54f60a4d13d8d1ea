import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RestorePointEntry } from "@mlrb/formats/attempt/restore-point";
import { base } from "../testing/scripted-scaffold.ts";
import { copyToRestorePoint, putRestorePointBack } from "./copy-restore-point.ts";

const mebibyte = 1 << 20;

/** Writes `mebibytes` of data at the start and 1 MiB at the end of a file of 5 GiB; the rest is a hole. */
function writeSparse(path: string, mebibytes: number, byte: number): void {
  const file = openSync(path, "w");
  const data = Buffer.alloc(mebibyte, byte);
  for (let part = 0; part < mebibytes; part++) writeSync(file, data);
  ftruncateSync(file, 5 * 2 ** 30);
  writeSync(file, data, 0, mebibyte, 5 * 2 ** 30 - mebibyte);
  closeSync(file);
}

/** MiB that this process, and programs that it waited for, have read and written. */
function transferred(): { read: number; written: number } {
  const text = readFileSync("/proc/self/io", "utf8");
  const of = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(text)![1]) / mebibyte;
  return { read: of("rchar"), written: of("wchar") };
}

const diskMiB = (folder: string) =>
  Number(execFileSync("du", ["-sm", folder], { encoding: "utf8" }).split("\t")[0]);

test("a restore point of a sparse workspace of 100 GiB reads and writes only the data that changed", {
  skip: process.platform !== "linux" && "bytes are counted by /proc",
}, async (t) => {
  const folder = base(t);
  const [root, contents, back] = ["root", "contents", "back"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [join(root, "workspace"), contents, back]) mkdirSync(path, { recursive: true });
  const at = (name: string) => join(root, "workspace", name);
  for (let n = 0; n < 20; n++) writeSparse(at(`model-${n}`), n === 0 ? 63 : 1, n + 1);
  let count = 0;
  const take = async (before: RestorePointEntry[]) => {
    const begin = transferred();
    const { signal } = new AbortController();
    const taken = await copyToRestorePoint(root, {
      ...{ contents, folders: ["workspace"], without: [], before, signal },
      newContent: () => String(++count),
    });
    assert.ok(typeof taken !== "string", String(taken));
    const end = transferred();
    return { ...taken, read: end.read - begin.read, written: end.written - begin.written };
  };
  const first = await take([]);
  assert.ok(first.read > 100 && first.read < 130, `${first.read} MiB were read of 102 MiB of data`);
  assert.ok(first.written > 100 && first.written < 130, `${first.written} MiB were written`);
  writeSparse(at("model-0"), 63, 99);
  const second = await take(first.entries);
  assert.ok(second.read > 63 && second.read < 70, `${second.read} MiB were read of 64 that changed`);
  assert.ok(second.written > 63 && second.written < 70, `${second.written} MiB were written`);
  const third = await take(second.entries);
  assert.ok(third.read < 1 && third.written < 1, `${third.read} MiB were read of none that changed`);
  assert.ok(diskMiB(contents) < 200, "holes take no room in the restore points");
  const restorePoint = { formatVersion: 1 as const, after: 1, workingMs: 1, entries: third.entries };
  await putRestorePointBack(back, contents, restorePoint, undefined);
  assert.ok(diskMiB(back) < 130, "holes take no room after a restore");
  assert.equal(statSync(join(back, "workspace/model-0")).size, 5 * 2 ** 30);
  for (const place of [0, 5 * 2 ** 30 - mebibyte])
    assert.deepEqual(bytesAt(join(back, "workspace/model-0"), place), bytesAt(at("model-0"), place));
});

function bytesAt(path: string, place: number): Buffer {
  return execFileSync("dd", [`if=${path}`, "bs=1M", "count=1", `skip=${place / mebibyte}`, "status=none"], {
    maxBuffer: 2 * mebibyte,
  });
}
