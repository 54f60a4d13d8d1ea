import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
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

test("a folder that looks the same is not copied twice", async () => {
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

test("equal folders have equal digests, whatever they are called and whenever they were written", async () => {
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

test("folders and files swapped for links while they are copied lead nowhere", {
  skip: process.platform !== "linux",
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

test("a file that is written to while it is copied is called torn", async () => {
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
