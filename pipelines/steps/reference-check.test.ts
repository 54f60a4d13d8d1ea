// The stage that attempts wait for, from the manifest of the references stage.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = mkdtempSync(join(tmpdir(), "mlrb-reference-check-"));
after(() => rmSync(root, { recursive: true }));

type Row = {
  name: string;
  kind?: string;
  value?: number;
  standardError?: number;
  rejected?: string;
  extra?: object;
};

/** Checks the rows of one scorer; undefined: its stage failed. */
function check(
  rows: Row[] | undefined,
  expected: Record<string, unknown>,
  baseline: number | string = 0.25,
): { status: number | null; stdout: string; stderr: string; checks?: Record<string, unknown>[] } {
  const at = mkdtempSync(join(root, "run-"));
  const all = rows?.map((row) => ({ kind: "published-model", parameters: 1, title: row.name, ...row }));
  writeFileSync(join(at, "rows.json"), JSON.stringify({ formatVersion: 1, scorer: "mmlu", rows: all }));
  const member = {
    stage: "references[task=t,scorer=mmlu]",
    name: "references",
    axes: { task: "t", scorer: "mmlu" },
    outcome: rows ? "succeeded" : "failed",
    cause: rows ? "" : "timeout: 24h",
    artifacts: rows ? { rows: { path: "rows.json", kind: "file", digest: "d" } } : {},
  };
  const models = {
    ...{ stage: "reference-models[task=t]", name: "reference-models", axes: { task: "t" } },
    ...{ outcome: "succeeded", cause: "", artifacts: { models: { kind: "dir", digest: "0123abcd" } } },
  };
  writeFileSync(join(at, "manifest.json"), JSON.stringify({ formatVersion: 1, members: [member, models] }));
  const output = join(at, "checks.json");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(import.meta.dirname, "reference-check.ts"),
      ...["--param", `expected=${JSON.stringify({ mmlu: expected })}`],
      ...["--param", `baselines=${JSON.stringify({ mmlu: baseline })}`],
      ...["--param", `directions=${JSON.stringify({ mmlu: "higher" })}`],
      ...["--input", `manifest=${join(at, "manifest.json")}`, "--output", `checks=${output}`],
    ],
    { encoding: "utf8" },
  );
  return { status, stdout, stderr, checks: JSON.parse(readFileSync(output, "utf8")).checks };
}

const range = { kind: "range", low: 0.555, high: 0.577, source: "reports" };

test("the stage succeeds where each model scores what is expected, whatever other rows say", () => {
  const rows = [
    { name: "phi", value: 0.5612, standardError: 0.004 },
    { name: "small", value: 0.24, standardError: 0.004 },
    { name: "other", rejected: "ties" },
  ];
  const said = check(rows, { phi: range, small: { kind: "finite" } });
  assert.equal(said.status, 0, said.stderr);
  assert.match(said.stdout, /^ok {4} phi, mmlu: 0\.5612; 0\.555 to 0\.577 expected$/m);
  assert.deepEqual(
    said.checks!.map(({ model, passed }) => [model, passed]),
    [
      ["phi", true],
      ["small", true],
    ],
  );
});

test("a value out of its range fails the stage with the model, the value and both ways out", () => {
  const said = check([{ name: "phi", value: 0.2533, standardError: 0.004 }], { phi: range });
  assert.equal(said.status, 1);
  assert.match(said.stdout, /^MISSED phi, mmlu: 0\.2533; 0\.555 to 0\.577 expected$/m);
  assert.match(said.stderr, /^phi \(mmlu\): .* no attempt at this task starts on this host\.$/m);
  assert.match(said.stderr, /Look for the cause .*--skip-reference-models/);
});

test("a published number, the number here and the digest of the models are printed, and a difference fails", () => {
  const published = { kind: "published", value: 33.2258, within: 0.001, of: "runningMean", source: "theirs" };
  const rows = (runningMean: number) => [{ name: "gpt2", value: 0.4, extra: { runningMean } }];
  const said = check(rows(33.225), { gpt2: published });
  assert.equal(said.status, 0, said.stderr);
  assert.match(said.stdout, /^ok {4} gpt2, mmlu: 0\.4; published 33\.2258, here 33\.225 \(-0\.002 %; /m);
  assert.match(said.stdout, /^digest of the reference models: 0123abcd$/m);
  assert.equal(check(rows(33.5), { gpt2: published }).status, 1);
});

test("a rejected, missing or unmeasured model fails the stage and says why", () => {
  for (const [rows, why] of [
    [[{ name: "phi", rejected: "non-finite output" }], /not scored; rejected: non-finite output/],
    [[], /not scored; the scorer gave no row of this name/],
    [undefined, /not scored; references\[task=t,scorer=mmlu\] gave no rows: timeout: 24h/],
  ] as const) {
    const said = check(rows as Row[] | undefined, { phi: { kind: "finite" } });
    assert.equal(said.status, 1);
    assert.match(said.stdout, why);
  }
});

test("a trivial baseline that is a row is read from the rows", () => {
  const rows = (majority: Row) => [{ name: "big", value: 0.6, standardError: 0.01 }, majority];
  const above = { big: { kind: "above-baseline", source: "reports" } };
  const baseline = "majority";
  assert.equal(check(rows({ name: baseline, value: 0.54, standardError: 0 }), above, baseline).status, 0);
  assert.equal(check(rows({ name: baseline, value: 0.58, standardError: 0 }), above, baseline).status, 1);
  const lacking = check(rows({ name: baseline, rejected: "no data" }), above, baseline);
  assert.match(lacking.stdout, /the trivial baseline was not measured/);
});

test("a model that scores like a guess of the scorer's rows fails, however far it is from chance", () => {
  const rows = [
    { name: "one-letter", kind: "guess", value: 0.5, standardError: 0.05 },
    { name: "phi", value: 0.5, standardError: 0.05 },
  ];
  const said = check(rows, { phi: { kind: "above-baseline", source: "reports" } });
  assert.equal(said.status, 1);
  assert.match(
    said.stdout,
    /^MISSED phi, mmlu: 0\.5; no better than a guess that reads no question \(0\.5000\)$/m,
  );
});
