import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { thisProcess } from "../leases/owner.ts";
import { clearUnfinished } from "../run/clear-unfinished.ts";
import { exampleCard, exampleEnd } from "../testing/example-record.ts";
import {
  attemptEnd,
  attemptFolders,
  attemptOf,
  claimAttempt,
  DamagedAttempt,
  damagedAttempts,
  isBeingMoved,
  isUnclaimed,
  makeAttemptFolder,
  supervisorFile,
} from "./attempt-folders.ts";

function state(t: TestContext): { state: string; running: string } {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-folders-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const part of ["leases", "attempts/running"]) mkdirSync(join(folder, part), { recursive: true });
  return { state: folder, running: join(folder, "attempts/running") };
}

test("a folder whose card cannot be written is removed", (t) => {
  const { state: at, running } = state(t);
  const card = { key: "a".repeat(64), slot: 1n } as unknown as AttemptCard;
  assert.throws(() => makeAttemptFolder(running, card));
  assert.deepEqual([readdirSync(running), readdirSync(join(at, "attempts/records"))], [[], []]);
});

test("a program that is killed while it makes folders leaves no folder without its card, and its leftovers are removed", async (t) => {
  const { state: at, running } = state(t);
  const program = `import { makeAttemptFolder } from ${JSON.stringify(import.meta.resolve("./attempt-folders.ts"))};
    import { processName } from ${JSON.stringify(import.meta.resolve("@mlrb/kit/processes/process-name"))};
    console.log(processName);
    while (true) makeAttemptFolder(${JSON.stringify(running)}, { key: "a".repeat(64), slot: "x".repeat(100_000) });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
  const [name] = await once(child.stdout, "data");
  while (readdirSync(running).length < 20) await new Promise(setImmediate);
  child.kill("SIGKILL");
  await once(child, "exit");
  for (const one of readdirSync(running))
    for (const part of ["attempt.json", "in", "out", "tmp"]) assert.ok(existsSync(join(running, one, part)));
  clearUnfinished(at, String(name).trim());
  assert.deepEqual(readdirSync(join(at, "attempts/records")), []);
});

test("an attempt whose end does not follow its format counts as not ended", (t) => {
  const { running } = state(t);
  const { path } = makeAttemptFolder(running, exampleCard);
  writeFileSync(join(path, "end.json"), JSON.stringify({ ...exampleEnd, result: { kind: "won" } }));
  assert.equal(attemptEnd(path), undefined);
  writeFileSync(join(path, "end.json"), JSON.stringify(exampleEnd));
  assert.deepEqual(attemptFolders(running)[0]?.state, { kind: "ended", end: exampleEnd });
});

const key = "a".repeat(64);
const outside = { ...exampleCard, key, gives: [{ name: "all", file: "../all", kind: "dir" }] };

test("a card that breaks its format makes its attempt damaged, and the error names folder, fault and way out", (t) => {
  const { running } = state(t);
  const { path, name } = makeAttemptFolder(running, { ...exampleCard, key });
  writeFileSync(join(path, "attempt.json"), JSON.stringify(outside));
  assert.deepEqual(attemptFolders(running), []);
  const [{ words } = { words: "" }] = damagedAttempts(running);
  for (const part of [name, "gives.0.file", "put the original file back"])
    assert.ok(words.includes(part), words);
});

test("a card torn by a power cut is not an attempt", (t) => {
  const { running } = state(t);
  const { path } = makeAttemptFolder(running, { ...exampleCard, key });
  writeFileSync(join(path, "attempt.json"), '{"formatVersion":1,"ru');
  assert.deepEqual([attemptFolders(running), damagedAttempts(running)], [[], []]);
});

test("an attempt that may be the damaged one is not started", (t) => {
  const { running } = state(t);
  const { path } = makeAttemptFolder(running, { ...exampleCard, key });
  writeFileSync(join(path, "attempt.json"), JSON.stringify(outside));
  const at = { state: { running } };
  assert.throws(() => attemptOf(key, at), DamagedAttempt);
  assert.equal(attemptOf("b".repeat(64), at), undefined);
});

test("a damaged attempt whose folder's name holds no key may be any attempt", (t) => {
  const { running } = state(t);
  mkdirSync(join(running, "renamed"));
  writeFileSync(join(running, "renamed", "attempt.json"), "{}");
  assert.throws(() => attemptOf(key, { state: { running } }), DamagedAttempt);
});

test("a folder without a card is not an attempt", (t) => {
  const { running } = state(t);
  mkdirSync(join(running, "empty"));
  writeFileSync(join(running, "stray"), "");
  assert.deepEqual([attemptFolders(running), damagedAttempts(running)], [[], []]);
});

test("an attempt whose folder another process has moved is not unclaimed", (t) => {
  const { running } = state(t);
  assert.equal(isUnclaimed(join(running, "moved")), false);
});

test("an attempt without a supervisor, whose run lives, is prepared before its conversation begins, and continues after", (t) => {
  const { running } = state(t);
  const gives = [{ name: "trajectory", file: "trajectory", kind: "file" as const }];
  const { path } = makeAttemptFolder(running, { ...exampleCard, key, gives, by: thisProcess() });
  const at = { state: { running } };
  assert.deepEqual([attemptFolders(running)[0]?.state.kind, attemptOf(key, at)], ["preparing", undefined]);
  mkdirSync(join(path, "attempt-x/sandbox-y/workspace"), { recursive: true });
  writeFileSync(
    join(path, "out/trajectory"),
    `${JSON.stringify({ ...exampleEvent("start"), kind: "llm" })}\n`,
  );
  assert.equal(attemptOf(key, at)?.state.kind, "resumable");
});

test("an attempt that failed on another host is left to that host, and one that succeeded there can be kept here", (t) => {
  const { running } = state(t);
  const { path } = makeAttemptFolder(running, { ...exampleCard, key });
  writeFileSync(join(path, "supervisor.json"), JSON.stringify({ ...thisProcess(), host: "gpu2" }));
  for (const [result, kind] of [
    [{ kind: "failed", cause: "machine", detail: "killed" }, "elsewhere"],
    [{ kind: "succeeded" }, "ended"],
  ] as const) {
    writeFileSync(join(path, "end.json"), JSON.stringify({ ...exampleEnd, result }));
    assert.equal(attemptOf(key, { state: { running } })?.state.kind, kind);
  }
});

for (const [words, end, supervisor, moved] of [
  ["failed under a living supervisor", { kind: "failed", cause: "machine", detail: "killed" }, true, true],
  ["failed under a dead supervisor", { kind: "failed", cause: "machine", detail: "killed" }, false, false],
  ["succeeded under a living supervisor", { kind: "succeeded" }, true, false],
] as const)
  test(`the folder of an attempt that ${words} is ${moved ? "" : "not "}its supervisor's to move`, (t) => {
    const { running } = state(t);
    const { path } = makeAttemptFolder(running, exampleCard);
    const owner = supervisor ? thisProcess() : { ...thisProcess(), pid: 2 ** 22 + 1, started: "1" };
    writeFileSync(join(path, "supervisor.json"), JSON.stringify(owner));
    writeFileSync(join(path, "end.json"), JSON.stringify({ ...exampleEnd, result: end }));
    const [found] = attemptFolders(running);
    assert.equal(isBeingMoved(found!), moved);
  });

for (const life of ["alive", "dead"] as const)
  test(`a copied folder of an attempt whose supervisor is ${life} is not continued until a person takes it over`, (t) => {
    const { state: at, running } = state(t);
    const { name, path } = makeAttemptFolder(running, exampleCard);
    claimAttempt(path);
    const claim = supervisorFile(path);
    const owner = JSON.parse(readFileSync(claim, "utf8"));
    if (life === "dead") writeFileSync(claim, JSON.stringify({ ...owner, started: "0" }));
    const kindIn = (folder: string) => attemptFolders(folder).find((one) => one.name === name)?.state.kind;
    const kind = life === "alive" ? "running" : "lost";
    assert.equal(kindIn(running), kind);
    const copy = join(at, "copy");
    cpSync(running, copy, { recursive: true, preserveTimestamps: true });
    assert.equal(kindIn(copy), "elsewhere");
    writeFileSync(supervisorFile(join(copy, name)), JSON.stringify({ ...owner, gone: true }));
    assert.equal(kindIn(copy), "lost", "taken over");
    renameSync(running, join(at, "moved"));
    assert.equal(kindIn(join(at, "moved")), kind, "a moved folder is the same folder");
  });
