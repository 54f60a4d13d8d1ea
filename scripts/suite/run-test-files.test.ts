import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { repeatAlone, runTestFiles } from "./run-test-files.ts";
import { countsLine, countTests, fileLine, summary } from "./summary.ts";
import { testEnvironment } from "./test-environment.ts";

type Written = Record<string, string>;

async function ran(
  t: TestContext,
  written: Written,
  { fileTimeoutMs = 60_000, end = new AbortController(), concurrency = 2, onFile = () => {} } = {},
) {
  const cwd = mkdtempSync(join(tmpdir(), "suite-test-"));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(written))
    writeFileSync(join(cwd, name), `import { describe, test } from "node:test";\n${text}`);
  const env = testEnvironment(process.env);
  const options = { cwd, env, concurrency, fileTimeoutMs: () => fileTimeoutMs, signal: end.signal, onFile };
  const results = await runTestFiles(Object.keys(written), options);
  return { cwd, results, counts: countsLine(countTests(results)), summary: summary(results) };
}

test("passes, failures and skips are counted, and each skip is shown with its reason", async (t) => {
  const { results, counts, summary } = await ran(t, {
    "a.test.mjs": `test("one", () => {});
      test("two", { skip: "no GPU here" }, () => {});
      test("three", (t) => t.skip("no engine"));
      test("four", { todo: "later" }, () => {});
      describe("five", () => { test("six", () => { throw new Error("the cause"); }); });`,
  });
  assert.equal(counts, "1 passed, 1 failed, 3 skipped");
  assert.match(summary, /a\.test\.mjs: two # no GPU here\n.*three # no engine\n.*four # later/);
  assert.match(summary, /The 1 slowest files:\n +\d/);
  assert.match(summary, /Failed:\n {2}a\.test\.mjs: six # the cause$/);
  assert.match(fileLine(results[0]!), /the cause/, "what a file printed is shown where it failed");
});

test("a long cause is listed with its start and its end, in lines that CI does not cut", async (t) => {
  const { summary } = await ran(t, {
    "a.test.mjs": `test("one", () => { throw new Error("begin " + "word ".repeat(2000) + "end"); });`,
  });
  const listed = summary.slice(summary.indexOf("Failed:"));
  assert.match(listed, /a\.test\.mjs: one # begin word/);
  assert.match(listed, / \[…\] [\s\S]*word end$/);
  assert.ok(listed.length > 3000 && listed.split("\n").every((line) => line.length <= 410));
});

test("a skip without a reason fails with that message", async (t) => {
  const { counts, summary } = await ran(t, {
    "a.test.mjs": `test("one", { skip: true }, () => {});
      test("two", (t) => t.skip());`,
  });
  assert.equal(counts, "0 passed, 2 failed");
  assert.match(
    summary,
    /Failed:\n.*: one # it was skipped without a reason\n.*: two # it was skipped without/,
  );
});

test("a file with an open server ends when its tests have ended", async (t) => {
  const { counts, summary } = await ran(t, {
    "open.test.mjs": `import { createServer } from "node:http";
      test("opens", (t) => {
        t.after(() => { throw new Error("the hook"); });
        createServer().listen(0);
      });`,
  });
  assert.equal(counts, "0 passed, 1 failed");
  assert.match(summary, /Failed:\n {2}open\.test\.mjs: opens # the hook$/);
});

test("a file that hangs is killed with its children and fails by name, while others pass", async (t) => {
  const { cwd, results, counts, summary } = await ran(
    t,
    {
      "hangs.test.mjs": `import { spawn } from "node:child_process"; import { writeFileSync } from "node:fs";
        test("waits", async () => {
          const child = spawn("sleep", ["600"], { stdio: "inherit" });
          writeFileSync("pid", String(child.pid));
          await new Promise(() => setInterval(() => {}, 1000));
        });`,
      "passes.test.mjs": `test("one", () => {});`,
    },
    { fileTimeoutMs: 4000 },
  );
  assert.match(summary, /hangs\.test\.mjs: hangs\.test\.mjs: ended after 4 s: timeout/);
  assert.match(
    fileLine(results.find(({ file }) => file === "hangs.test.mjs")!),
    /still ran:\n +PID .*\n(.*\n)+.* sleep 600$/m,
  );
  assert.equal(counts, "1 passed, 1 failed");
  const pid = Number(readFileSync(join(cwd, "pid"), "utf8"));
  const runs = () => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  for (let tries = 0; runs() && tries < 50; tries++) await sleep(100);
  assert.equal(runs(), false, "its child is gone too");
});

test("when the suite's time is over, running files are killed and waiting files fail by name", async (t) => {
  const end = new AbortController();
  const { counts, summary } = await ran(
    t,
    {
      "first.test.mjs": `test("one", () => {});`,
      "second.test.mjs": `test("waits", () => new Promise(() => setInterval(() => {}, 1000)));`,
      "third.test.mjs": `test("one", () => {});`,
    },
    { end, concurrency: 1, onFile: () => setTimeout(() => end.abort("the time is over"), 500) },
  );
  assert.equal(counts, "1 passed, 2 failed");
  assert.match(summary, /second\.test\.mjs: the time is over/);
  assert.match(summary, /third\.test\.mjs: did not run: the time is over/);
});

test("a failure that does not repeat alone is listed apart, and one that does still fails", async (t) => {
  const once = (then: string) => `import { existsSync, writeFileSync } from "node:fs";
    test("one", () => {
      if (existsSync("ran-${then}")) return;
      writeFileSync("ran-${then}", "");
      throw new Error("the first time");
    });`;
  const always = 'test("two", () => { throw new Error("each time"); });';
  const written = { "a.test.mjs": once("a"), "b.test.mjs": always, "kills.test.mjs": once("kills") };
  const first = await ran(t, written);
  assert.equal(first.counts, "0 passed, 3 failed");
  const end = new AbortController();
  const options = { cwd: first.cwd, env: testEnvironment(process.env), onFile: () => {} };
  const again = { ...options, fileTimeoutMs: () => 60_000, signal: end.signal };
  const results = await repeatAlone(first.results, again);
  assert.equal(countsLine(countTests(results)), "1 passed, 2 failed", "what kills at random is not repeated");
  const [unstable, failed] = summary(results).split("\nFailed:\n");
  assert.match(unstable!, /passed alone .*\n {2}a\.test\.mjs: one # the first time\n$/);
  assert.deepEqual(failed!.split("\n").sort(), [
    "  b.test.mjs: two # each time",
    "  kills.test.mjs: one # the first time",
  ]);
  const more = [...first.results, { ...first.results[0]!, file: "c.test.mjs" }];
  assert.deepEqual(await repeatAlone(more, again), more, "many failures are no coincidence");
});

test("a file that crashes, cannot be loaded or has no test fails", async (t) => {
  const { counts, summary } = await ran(t, {
    "crash.test.mjs": `test("one", () => {}); test("two", () => process.kill(process.pid, "SIGKILL"));`,
    "exit.test.mjs": `test("one", () => {}); process.on("exit", () => { process.exitCode = 7; });`,
    "load.test.mjs": `import "./missing.mjs";`,
    "none.test.mjs": "",
  });
  for (const what of ["crash.test.mjs: ended by SIGKILL", "exit.test.mjs: exit 7", "load.test.mjs: exit 1"])
    assert.match(summary, new RegExp(what));
  assert.match(summary, /none\.test\.mjs: has no test/);
  assert.match(counts, /, 4 failed$/);
});

test("tests get a fixed terminal, locale and time zone, and only listed variables", async (t) => {
  const given = {
    ...{ PATH: "/bin", HOME: "/home/a", HTTPS_PROXY: "http://127.0.0.1:1", UPDATE_GOLDEN: "1" },
    ...{ TERM: "xterm", LANG: "tr_TR.UTF-8", LC_TIME: "de_DE", TZ: "Asia/Kolkata", NO_COLOR: "1" },
    ...{ MLRB_GPUS: "0", MLRB_SWEEP: "full", OPENAI_API_KEY: "sk", NODE_TEST_CONTEXT: "child" },
  };
  assert.deepEqual(testEnvironment(given, { MLRB_PYTHON: "/python" }), {
    ...{ PATH: "/bin", HOME: "/home/a", HTTPS_PROXY: "http://127.0.0.1:1", UPDATE_GOLDEN: "1" },
    ...{ MLRB_SWEEP: "full", MLRB_PYTHON: "/python" },
    ...{ TERM: "dumb", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", TZ: "UTC" },
  });
  const { counts } = await ran(t, {
    "env.test.mjs": `import assert from "node:assert";
      test("one", () => assert.equal(process.env.TERM + process.env.TZ, "dumbUTC"));`,
  });
  assert.equal(counts, "1 passed, 0 failed");
});
