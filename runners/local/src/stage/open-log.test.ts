import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openLog } from "./open-log.ts";

function scene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-open-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return { from: join(folder, "from"), to: join(folder, "to") };
}

test("the first try begins a new log; each further try appends to the log and says how the previous try ended", async (t) => {
  const at = scene(t);
  writeFileSync(at.to, "yesterday's\n");
  for (const [said, before] of [
    ["one\n", undefined],
    ["two\n", "try 1 of 3: no space"],
    ["three\n", "try 2 of 3: no space"],
  ] as const) {
    const log = openLog({ ...at, secrets: [], before });
    appendFileSync(at.from, said);
    await log.end();
  }
  const whole = "one\nmlrb: try 1 of 3: no space\ntwo\nmlrb: try 2 of 3: no space\nthree\n";
  assert.equal(readFileSync(at.to, "utf8"), whole);
});

test("the end of a try without output is in the log", async (t) => {
  const at = scene(t);
  const log = openLog({ ...at, secrets: [], before: "try 1 of 2: no such program" });
  await log.end();
  assert.equal(readFileSync(at.to, "utf8"), "mlrb: try 1 of 2: no such program\n");
});

test("the log holds the name of a secret in place of its value, and stays unchanged without a value", async (t) => {
  process.env.MLRB_TEST_KEY = "very-secret";
  t.after(() => delete process.env.MLRB_TEST_KEY);
  const at = scene(t);
  for (const [secrets, expected] of [
    [["MLRB_TEST_KEY"], "key: [redacted MLRB_TEST_KEY]\n"],
    [["MLRB_TEST_UNSET"], "key: very-secret\n"],
  ] as const) {
    const log = openLog({ ...at, secrets: [...secrets] });
    appendFileSync(at.from, "key: very-secret\n");
    await log.end();
    assert.equal(readFileSync(at.to, "utf8"), expected);
    assert.ok(!existsSync(at.from));
  }
});
