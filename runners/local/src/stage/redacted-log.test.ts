import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RedactedLog, secretsNamed } from "./redacted-log.ts";

function scene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-redacted-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return { from: join(folder, "from"), to: join(folder, "to") };
}

const secrets = { KEY: "very-secret" };

test("the copy is complete and without secrets, and replaces the previous copy", async (t) => {
  const { from, to } = scene(t);
  writeFileSync(to, "the last time");
  const log = new RedactedLog(from, to, secrets);
  assert.ok(!existsSync(to));
  const lines = Array.from({ length: 300_000 }, (_, line) => `line ${line}: very-secret\n`).join("");
  writeFileSync(from, `${lines}the end, very-sec`);
  await log.end();
  await log.end();
  assert.equal(
    readFileSync(to, "utf8"),
    `${lines.replaceAll("very-secret", "[redacted KEY]")}the end, very-sec`,
  );
  assert.ok(!existsSync(from));
});

test("the copy is readable while the stage runs, and holds no secret at any time or after a kill", {
  timeout: 30_000,
}, async (t) => {
  const { from, to } = scene(t);
  const log = new RedactedLog(from, to, secrets);
  appendFileSync(from, "begins with very-");
  while (!existsSync(to)) await sleep(10);
  appendFileSync(from, "secret and goes on, for longer than a secret is");
  while (!readFileSync(to, "utf8").includes("goes on")) await sleep(10);
  const seen = readFileSync(to, "utf8");
  assert.ok("begins with [redacted KEY] and goes on, for longer than a secret is".startsWith(seen), seen);
  await log.end();
});

test("a log that grows faster than it is copied keeps both ends in the copy, with no half of a secret at the gap", async (t) => {
  const { from, to } = scene(t);
  const cap = { headBytes: 2_000, tailBytes: 8_000 };
  // the copy may resume at any byte
  for (let shift = 0; shift < 24; shift++) {
    const log = new RedactedLog(from, to, secrets, { cap });
    const line = (index: number) => `${index} very-secret\n`;
    const text = `${"s".repeat(shift)}\n${Array.from({ length: 3_000 }, (_, index) => line(index)).join("")}the last words`;
    writeFileSync(from, text);
    await log.end();
    const copy = readFileSync(to, "utf8");
    assert.ok(copy.startsWith(`${"s".repeat(shift)}\n0 [redacted KEY]\n1 [redacted KEY]\n`));
    assert.match(copy, /\nmlrb: \d+ bytes \(.*\) were left out here; .*\n/);
    assert.ok(copy.endsWith("\n2999 [redacted KEY]\nthe last words"), copy.slice(-100));
    assert.ok(copy.length <= cap.headBytes + cap.tailBytes + 200, `${copy.length}`);
    const odd = copy
      .split("\n")
      .filter((said) => !/^(\d* ?|\d+ \[redacted KEY\]|s*|mlrb: .*|the last words)$/.test(said));
    assert.deepEqual(odd, []);
  }
});

test("a stage without output leaves no log", async (t) => {
  const { from, to } = scene(t);
  const log = new RedactedLog(from, to, secrets);
  await log.end();
  assert.ok(!existsSync(to));
});

test("a copy that cannot be written is an error, and the original log is removed", async (t) => {
  const { from, to } = scene(t);
  const log = new RedactedLog(from, to, secrets);
  writeFileSync(from, "something");
  mkdirSync(to);
  await assert.rejects(log.end(), { code: "EISDIR" });
  assert.ok(!existsSync(from));
});

test("only secrets that are set and not empty count", (t) => {
  process.env.MLRB_TEST_SET = "value";
  process.env.MLRB_TEST_EMPTY = "";
  t.after(() => {
    delete process.env.MLRB_TEST_SET;
    delete process.env.MLRB_TEST_EMPTY;
  });
  assert.deepEqual(secretsNamed(["MLRB_TEST_SET", "MLRB_TEST_EMPTY", "MLRB_TEST_UNSET"]), {
    MLRB_TEST_SET: "value",
  });
});

test("text after a secret got an unknown value is not copied, and text before is", async (t) => {
  const { from, to } = scene(t);
  let knows = true;
  const log = new RedactedLog(from, to, secrets, { mayCopy: () => knows });
  writeFileSync(from, "before: very-secret\n");
  await sleep(700);
  knows = false;
  appendFileSync(from, "after: the-new-value\n");
  await log.end();
  assert.match(readFileSync(to, "utf8"), /^before: \[redacted KEY\]\nmlrb: what follows is not shown: .*\n$/);
  assert.ok(!existsSync(from));
});

test("the log of a continuing stage stays when its run leaves the stage", async (t) => {
  const { from, to } = scene(t);
  const log = new RedactedLog(from, to, secrets);
  writeFileSync(from, "said very-secret\n");
  await log.leave();
  await log.end();
  assert.equal(readFileSync(to, "utf8"), "said [redacted KEY]\n");
  assert.ok(existsSync(from));
});
