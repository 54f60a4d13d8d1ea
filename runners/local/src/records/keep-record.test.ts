import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeAttemptFolder } from "../attempts/attempt-folders.ts";
import { outputPaths } from "../stage/output-paths.ts";
import { exampleCard, exampleEnd } from "../testing/example-record.ts";
import { home } from "../testing/small-plan.ts";
import { keepRecord } from "./keep-record.ts";
import { verifyRecord } from "./verify-record.ts";

test("the duration in a record is that of all supervisors and jobs of its attempt", async (t) => {
  const at = home(t);
  const workspace = at.open();
  mkdirSync(workspace.state.running, { recursive: true });
  const { path } = makeAttemptFolder(workspace.state.running, exampleCard);
  const tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  const spent = { calls: 0, failedTries: 0, uncounted: 0, ...tokens, dollars: 0, waitedMs: {} };
  const line = { formatVersion: 1, workingMs: 86_400_000, sinceStartMs: 86_400_000, ...spent };
  writeFileSync(join(path, "spending.jsonl"), `${JSON.stringify(line)}\n`);
  writeFileSync(join(path, "log"), "");
  const end = { ...exampleEnd, durationMs: 14_400_000 };
  const kept = await keepRecord(
    { path, card: exampleCard, end, log: join(path, "log"), isHeld: () => true },
    workspace,
  );
  assert.ok(kept.kind === "kept");
  assert.equal(kept.record.record.ran.durationMs, 86_400_000);
  assert.equal(kept.durationMs, 86_400_000);
});

/** Keeps an attempt with `count` small files, two of them equal and one a program. Returns where its files are. */
async function kept(t: TestContext, count: number) {
  const workspace = home(t).open();
  mkdirSync(workspace.state.running, { recursive: true });
  const card = { ...exampleCard, gives: [{ name: "out", kind: "dir" as const, file: "out" }] };
  const { path } = makeAttemptFolder(workspace.state.running, card);
  const out = outputPaths(path, card.gives).out!;
  mkdirSync(out, { recursive: true });
  for (let index = 0; index < count; index++) writeFileSync(join(out, `${index}`), `file ${index}`);
  writeFileSync(join(out, "equal"), "file 0");
  writeFileSync(join(out, "empty"), "");
  writeFileSync(join(out, "program"), "#!/bin/sh", { mode: 0o755 });
  const one = await keepRecord(
    { path, card, end: exampleEnd, log: join(path, "log"), isHeld: () => true },
    workspace,
  );
  assert.ok(one.kind === "kept", JSON.stringify(one));
  const { digest } = one.record;
  const folder = join(workspace.state.attempts, "records");
  const at = (name: string) => join(folder, digest, "out", name);
  const content = (text: string) => workspace.store.pathOf(hash("sha256", text));
  const verify = () => verifyRecord(digest, { records: workspace.attempts, folder, store: workspace.store });
  return { out, at, content, verify };
}

test("small files of a record of many are names of the cache's contents, and of a record of few they are copies", async (t) => {
  const { out, at, content, verify } = await kept(t, 500);
  assert.equal(statSync(at("7")).ino, statSync(content("file 7")).ino);
  assert.equal(statSync(at("7")).ino, statSync(join(out, "7")).ino, "it was never copied");
  assert.equal(statSync(at("0")).ino, statSync(at("equal")).ino);
  assert.equal(statSync(at("7")).mode & 0o777, 0o444);
  for (const name of ["empty", "program"]) assert.equal(statSync(at(name)).nlink, 1, name);
  assert.equal(statSync(at("program")).mode & 0o111, 0o111);
  assert.equal(readFileSync(at("499"), "utf8"), "file 499");
  assert.deepEqual(verify().left, []);
  const few = await kept(t, 100);
  assert.equal(statSync(few.at("7")).nlink, 1);
});

test("a small file that all its names share is reported by name when it is damaged", async (t) => {
  const { at, verify } = await kept(t, 500);
  chmodSync(at("7"), 0o644);
  writeFileSync(at("7"), "damaged");
  assert.deepEqual(verify().left, ["out/7 is damaged, and the cache has no sound copy of it"]);
});
