// The golden files are read as closely as code; `UPDATE_GOLDEN=1 node --test` writes them again.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { displayWidth } from "@mlrb/core/text/display-width";
import { afterRun } from "./after-run.ts";
import { type Closing, closing } from "./closing.ts";

const golden = join(import.meta.dirname, "../..", "golden");
const none = { succeeded: 0, reused: 0, failed: 0, skipped: 0, cancelled: 0 };

function failure(seed: number) {
  const stage = `attempt[task=baby-lm,agent=script-strong,seed=${seed}]`;
  const said = [
    "Traceback (most recent call last):",
    '  File "train.py", line 31, in <module>',
    "x".repeat(300),
  ];
  return {
    stage,
    cause: "exit-code: exit status 1\u001b[2J",
    said: [...said, "MemoryError: 12 GiB wanted"],
    command: `pnpm pipeline log '${stage}'`,
  };
}

/** A run in which much went wrong, as `pipeline run` would sum it up. */
function bad(failures: number): Closing {
  const counts = { ...none, succeeded: 12, reused: 150, failed: failures, skipped: 4 };
  return {
    pipeline: "full-benchmark",
    profile: "paper",
    counts,
    durationMs: 7_265_000,
    failures: Array.from({ length: failures }, (_, at) => failure(at + 1)),
    troubles: Array.from({ length: failures > 1 ? failures - 1 : 0 }, (_, at) => ({
      stage: `attempt[task=baby-lm,agent=gpt,seed=${at + 1}]`,
      why: "machine: its sandbox was lost\u001b[2J",
      command: `pnpm pipeline attempts resume 3f2a90c1d2${10 + (at % 10)}`,
    })),
    coverage:
      "28 attempts planned: 22 pass, 2 disqualified, 1 rejected, 3 missing. 60 scores planned: 52 scored, 2 rejected, 6 not measured.",
    cost: "2 attempts took 47.1 GPU hours (estimated 48.0 from 3 earlier attempts: 2 % less) and 86.20 dollars (no estimate)",
    results: "results/full-benchmark/paper",
    next: afterRun(
      { counts, leftStale: 2, published: true, report: undefined },
      { pipeline: "full-benchmark", options: { profile: "paper", set: ["agent=gpt-4o,claude-3-5-sonnet"] } },
    ),
  };
}

const good: Closing = {
  pipeline: "hello",
  profile: "smoke",
  counts: { ...none, succeeded: 2, reused: 7 },
  durationMs: 41_000,
  failures: [],
  coverage: "1 attempt planned: 1 pass. 2 scores planned: 2 scored.",
  results: "results/hello/smoke",
  next: [{ command: "pnpm pipeline report hello", why: "prints every table; --open shows the page" }],
};

for (const columns of [40, 80, 200, undefined]) {
  const name = `closing-${columns ?? "pipe"}.txt`;
  test(`the last lines of a run match golden/${name}`, () => {
    const screen = columns === undefined ? undefined : { columns, rows: 24 };
    const text = [good, bad(1), bad(20)].map((one) => closing(one, screen)).join("=====");
    if (process.env.UPDATE_GOLDEN) writeFileSync(join(golden, name), text);
    assert.equal(text, readFileSync(join(golden, name), "utf8"));
  });
}

test("the last lines fit 24 rows from 60 columns on, whatever failed, and no command is cut", () => {
  for (let columns = 60; columns <= 200; columns++) {
    for (const failures of [0, 1, 2, 3, 20, 5000]) {
      const of = bad(failures);
      const text = closing(of, { columns, rows: 24 });
      const rows = text
        .split("\n")
        .slice(0, -1)
        .reduce((sum, line) => sum + Math.max(1, Math.ceil(displayWidth(line) / columns)), 0);
      assert.ok(rows <= 23, `${rows} rows at ${columns} columns, ${failures} failed\n${text}`);
      for (const { command } of of.next) assert.ok(text.includes(`  ${command}\n`), text);
      if (failures > 0) assert.match(text, /failed/);
    }
  }
});

test("after a success at most eight lines are printed, and always one next step", () => {
  const next = ["report", "trace"].map((command) => ({
    command: `pnpm pipeline ${command} hello`,
    why: "why",
  }));
  for (const cost of [
    undefined,
    "2 attempts took 1.0 GPU hours (no estimate) and 86.20 dollars (no estimate)",
  ]) {
    const lines = closing({ ...good, next, cost }, { columns: 80, rows: 24 })
      .trim()
      .split("\n");
    assert.ok(lines.length <= 8, lines.join("\n"));
    assert.ok(lines.includes("  pnpm pipeline report hello"));
    assert.equal(lines.includes("  pnpm pipeline trace hello"), cost === undefined);
  }
});

test("rescored scores are one line after the coverage, and the lines after a success stay within eight", () => {
  const rescored = "rescored 4 of 60 scores: bits-per-byte mean −0.012";
  const next = ["report", "trace"].map((command) => ({
    command: `pnpm pipeline ${command} hello`,
    why: "why",
  }));
  for (const cost of [
    undefined,
    "2 attempts took 1.0 GPU hours (no estimate) and 86.20 dollars (no estimate)",
    "2 attempts took 47.1 GPU hours (estimated 48.0 from 3 earlier attempts) and 86.20 dollars (no estimate)",
  ]) {
    const lines = closing({ ...good, rescored, next, cost }, { columns: 80, rows: 24 })
      .trim()
      .split("\n");
    assert.equal(lines[2], rescored);
    assert.ok(lines.length <= 8, lines.join("\n"));
    assert.ok(lines.includes("  pnpm pipeline report hello"));
  }
});

test("a failure is shown with its cause and its last output lines while they fit", () => {
  const text = closing(bad(20), { columns: 80, rows: 24 });
  assert.match(text, /^failed {2}attempt\[task=baby-lm,agent=script-strong,seed=1\]\n {8}exit-code/m);
  assert.match(text, /^ {8}\| MemoryError: 12 GiB wanted\n {8}pnpm pipeline log 'attempt/m);
  assert.match(text, /^… and \d+ more failed$/m);
});
