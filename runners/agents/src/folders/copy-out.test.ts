import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { copyOut } from "./copy-out.ts";

const root = mkdtempSync(join(tmpdir(), "copy-out-"));
after(() => rmSync(root, { recursive: true }));
const limits = { bytesMax: 1 << 20, filesMax: 1000 };

function folder(): { at: string; copy: (unless?: string) => ReturnType<typeof copyOut>; to: () => string } {
  const at = mkdtempSync(join(root, "c-"));
  mkdirSync(join(at, "in"));
  let count = 0;
  const to = () => join(at, `out-${count}`);
  const copy = (unless?: string) => {
    count++;
    return copyOut(at, { inside: "in", to: to(), limits, ...(unless === undefined ? {} : { unless }) });
  };
  return { at, copy, to };
}

test("an unchanged folder is not copied twice", async () => {
  const { at, copy, to } = folder();
  writeFileSync(join(at, "in/a"), "1");
  const first = await copy();
  assert.equal(first.kind, "taken");
  const state = first.kind === "taken" ? first.state : "";
  assert.deepEqual(await copy(state), { kind: "unchanged" });
  assert.throws(() => readdirSync(to()));
  writeFileSync(join(at, "in/a"), "2");
  utimesSync(join(at, "in/a"), 1, 1); // hiding the change takes more than setting its time back
  assert.equal((await copy(state)).kind, "taken");
});

test("equal folders have equal digests, independent of name and time", async () => {
  const digests = [];
  for (const names of [
    ["a", "b/c"],
    ["b/c", "a"],
    ["a", "b/d"],
  ]) {
    const { at, copy } = folder();
    mkdirSync(join(at, "in/b"));
    for (const name of names) writeFileSync(join(at, "in", name), name[0]!);
    const taken = await copy();
    digests.push(taken.kind === "taken" && taken.tree.digest);
  }
  assert.equal(digests[0], digests[1]);
  assert.notEqual(digests[0], digests[2]);
});

test("folders and files swapped for links during the copy are not followed", {
  skip: process.platform === "linux" ? false : "needs Linux: folders are opened by descriptor on Linux only",
}, async () => {
  const { at, copy, to } = folder();
  mkdirSync(join(at, "secret"));
  writeFileSync(join(at, "secret/file"), "SECRET");
  const swap =
    "while :; do mkdir d; echo ok > d/file; echo ok > f; rm -rf d; ln -s ../secret d; rm f; ln -s ../secret/file f; rm d f; done";
  const agent = spawn("sh", ["-c", swap], { cwd: join(at, "in"), stdio: "ignore" });
  try {
    let seen = 0;
    for (let round = 0; round < 300; round++) {
      const taken = await copy();
      if (taken.kind !== "taken") continue;
      for (const { path } of taken.tree.files) {
        seen++;
        assert.doesNotMatch(readFileSync(join(to(), path), "utf8"), /SECRET/, path);
      }
    }
    assert.ok(seen > 0, "some honest files were met");
  } finally {
    agent.kill("SIGKILL");
  }
});

test("a file written to during its copy is reported as torn", async () => {
  const { at, copy } = folder();
  const agent = spawn("sh", ["-c", "while :; do echo more >> growing; done"], {
    cwd: join(at, "in"),
    stdio: "ignore",
  });
  try {
    let torn = 0;
    for (let round = 0; round < 200 && torn === 0; round++) {
      const taken = await copy();
      if (taken.kind === "taken") torn += taken.tree.torn.length;
    }
    assert.ok(torn > 0);
  } finally {
    agent.kill("SIGKILL");
  }
});

const large = Buffer.alloc(3 << 20, "weights");

/** Copies `in` twice, with a change in between; returns the inode of each copy of `model`. */
async function twice(between: (at: string) => void) {
  const at = mkdtempSync(join(root, "t-"));
  mkdirSync(join(at, "in/deep"), { recursive: true });
  writeFileSync(join(at, "in/deep/model"), large);
  writeFileSync(join(at, "in/card"), "card");
  const request = { inside: "in", limits: { bytesMax: 8 << 20, filesMax: 10 } };
  const first = await copyOut(at, { ...request, to: join(at, "first") });
  assert.ok(first.kind === "taken");
  between(at);
  const earlier = { folder: join(at, "first"), files: first.tree.files };
  const second = await copyOut(at, { ...request, to: join(at, "second"), earlier });
  assert.ok(second.kind === "taken");
  const copy = readFileSync(join(at, "second/deep/model"));
  assert.deepEqual(copy, readFileSync(join(at, "in/deep/model")));
  const { digest } = second.tree.files.find(({ path }) => path === "deep/model")!;
  assert.equal(digest, hash("sha256", copy));
  const sameInode = ["first", "second"].map((name) => statSync(join(at, name, "deep/model"), big)?.ino);
  assert.notEqual(
    statSync(join(at, "in/deep/model")).ino,
    Number(sameInode[1]),
    "never the agent's own file",
  );
  assert.equal(statSync(join(at, "second/card")).nlink, 1, "what is small is copied");
  return { linked: sameInode[0] === sameInode[1], torn: second.tree.torn };
}

const big = { bigint: true, throwIfNoEntry: false } as const;

test("a large file equal to the earlier copy is hard-linked to it", async () => {
  assert.deepEqual(await twice(() => {}), { linked: true, torn: [] });
  const rewritten = (at: string) => writeFileSync(join(at, "in/deep/model"), large);
  assert.deepEqual(await twice(rewritten), { linked: true, torn: [] }, "by its bytes, not by its times");
});

test("a large file that changed by a byte is copied even with equal times, and the earlier copy is unchanged", async () => {
  for (const position of [0, 1 << 20, large.length - 1]) {
    const { linked } = await twice((at) => {
      const path = join(at, "in/deep/model");
      const { atime, mtime } = statSync(path);
      const file = openSync(path, "r+");
      writeSync(file, "X", position);
      closeSync(file);
      utimesSync(path, atime, mtime);
    });
    assert.equal(linked, false);
  }
});

test("an earlier copy that is gone, cut or replaced by a link is not used", async () => {
  for (const between of [
    (at: string) => rmSync(join(at, "first"), { recursive: true }),
    (at: string) => truncateSync(join(at, "first/deep/model"), 2 << 20),
    (at: string) => {
      rmSync(join(at, "first/deep/model"));
      symlinkSync(join(at, "in/deep/model"), join(at, "first/deep/model"));
    },
  ])
    assert.equal((await twice(between)).linked, false);
});
