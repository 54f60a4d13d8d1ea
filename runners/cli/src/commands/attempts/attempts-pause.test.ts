import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pauseFile, waitFile } from "@mlrb/core/ports/attempt-wait";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { claimAttempt, makeAttemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { thisProcess } from "@mlrb/local/leases/owner";
import { exampleCard } from "@mlrb/local/testing/example-record";
import { attemptsResume } from "./attempts-resume.ts";

/** A paused attempt; the process with the id 1 did not begin it. */
function paused(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-pause-"));
  t.after(() => rmSync(root, { recursive: true }));
  const gives = [{ name: "trajectory", file: "trajectory.jsonl", kind: "file" as const }];
  const by = { ...thisProcess(), pid: 1, started: "0" };
  const made = makeAttemptFolder(join(root, ".mlrb/attempts/running"), { ...exampleCard, gives, by });
  const at = (name: string) => join(made.path, name);
  writeFileSync(at(pauseFile), "{}");
  return {
    ...{ ...made, at },
    /** What it prints. */
    async resume() {
      const said: string[] = [];
      for (const stream of [process.stdout, process.stderr])
        t.mock.method(stream, "write", (text: string) => said.push(text) > 0);
      const code = await attemptsResume(root, [made.name], { root, json: false });
      t.mock.restoreAll();
      return { code, said: said.join("") };
    },
  };
}

test("resume cancels the pause of an attempt that waits for its provider", async (t) => {
  const { path, at, resume } = paused(t);
  claimAttempt(path);
  const wait = { why: "provider", cause: "overloaded", whose: "provider", detail: "503" };
  const times = { since: new Date().toISOString(), nextTry: null, giveUpAt: null };
  writeFileSync(at(waitFile), JSON.stringify({ formatVersion: 1, waits: [{ ...wait, ...times }] }));
  const { code, said } = await resume();
  assert.match(said, /: goes on; it had not paused yet\n/);
  assert.deepEqual([code, existsSync(at(pauseFile))], [0, false]);
});

test("resume of a paused attempt whose supervisor died lets it go on, not pause again", async (t) => {
  const { at, resume } = paused(t);
  mkdirSync(at("attempt-1/sandbox-1/workspace"), { recursive: true });
  writeFileSync(at("out/trajectory.jsonl"), `${JSON.stringify({ ...exampleEvent("start"), kind: "llm" })}\n`);
  const { said } = await resume(); // of a pipeline that this test does not have
  assert.match(said, /not-resumed: /);
  assert.equal(existsSync(at(pauseFile)), false);
});
