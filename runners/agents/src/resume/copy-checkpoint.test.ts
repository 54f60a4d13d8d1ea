import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { CheckpointEntry } from "@mlrb/formats/attempt/checkpoint";
import { base } from "../testing/scripted-scaffold.ts";
import { copyToCheckpoint, restoreCheckpoint } from "./copy-checkpoint.ts";

function places(t: TestContext) {
  const folder = base(t);
  const at = (name: string) => join(folder, name);
  for (const name of ["root", "contents", "outside"]) mkdirSync(at(name));
  writeFileSync(at("contents/1"), "evil");
  return { root: at("root"), contents: at("contents"), outside: at("outside") };
}

const file: CheckpointEntry = { path: "workspace/x", kind: "file", mode: 0o644, bytes: 4, content: "1" };
const checkpoint = (entries: CheckpointEntry[]) => ({
  formatVersion: 1 as const,
  after: 1,
  workingMs: 1,
  entries,
});

test("nothing is written through a link of the checkpoint, as a name or as a folder", async (t) => {
  const { root, contents, outside } = places(t);
  const link = { path: "workspace/x", kind: "link" as const, mode: 0o777, target: join(outside, "victim") };
  await restoreCheckpoint(root, contents, checkpoint([link, file]), undefined);
  assert.equal(readlinkSync(join(root, "workspace/x")), link.target);
  const inner = { ...file, path: "workspace/y/victim" };
  const folder = { ...link, path: "workspace/y", target: outside };
  await assert.rejects(
    restoreCheckpoint(root, contents, checkpoint([folder, inner]), undefined),
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
  const taken = await copyToCheckpoint(from, {
    ...{ contents, folders: ["workspace"], without: [], before: [], signal: new AbortController().signal },
    newContent: () => String(++count),
  });
  assert.ok(typeof taken !== "string");
  await restoreCheckpoint(root, contents, checkpoint(taken.entries), undefined);
  assert.equal(readFileSync(join(root, "workspace/modules/deep/l"), "utf8"), "text");
  for (const path of ["deep", ""])
    assert.equal(statSync(join(root, "workspace/modules", path)).mode & 0o777, 0o555);
});
