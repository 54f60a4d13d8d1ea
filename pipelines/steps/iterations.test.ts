import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openTrajectory } from "@mlrb/agents/record/trajectory";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { readJson, writeJson } from "@mlrb/kit/json-file";

const line = JSON.stringify({
  id: "a",
  hypothesis: "h",
  change: "c",
  metric: { name: "bits-per-byte", split: "dev", value: 2.3829867 },
});
const eventsOf = (printed: string): TrajectoryEvent[] => [
  exampleEvent("start", { budget: { wallMs: 600_000 } }),
  { event: "exec", argv: ["python", "x.py"] },
  { event: "output", stream: "stdout", text: printed },
  { event: "iteration", line, wellFormed: true },
  exampleEvent("snapshot", { name: "0001", digest: "1".repeat(64), files: 1 }),
  exampleEvent("snapshot", { name: "0002", digest: "2".repeat(64), files: 2 }),
  { event: "exec-end", result: { kind: "exited", code: 0 } },
  exampleEvent("snapshot", { name: "final", digest: "2".repeat(64), files: 2, gone: [], torn: [] }),
  exampleEvent("end", { ended: "finished" }),
];

type ReadIterations = {
  kind: string;
  reason?: string;
  iterations?: unknown[];
  measures?: Record<string, unknown>;
};

/** Runs the stage on a supervisor's attempt whose program `printed`, with `calls`, after `spoil` has changed the folder. */
function found(
  t: TestContext,
  spoil: (folder: string) => void = () => {},
  printed = '{"dev_bits_per_byte": 2.3830}\n',
  calls: TrajectoryEvent[] = [],
): ReadIterations {
  const folder = mkdtempSync(join(tmpdir(), "iterations-step-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = (name: string) => join(folder, name);
  let now = 0;
  const trajectory = openTrajectory(path("trajectory"), {
    now: () => ({ wall: 1e12, sinceStart: 1000 * now++ }),
  });
  for (const event of [...calls, ...eventsOf(printed)]) trajectory.add(event);
  trajectory.close();
  const submission = { digest: "2".repeat(64), files: 2, bytes: 2, leftOut: [], overLimits: null };
  writeJson(path("ledger"), exampleLedger({ wallMs: 9000, submission, trajectory: trajectory.seal() }));
  for (const name of ["0001", "0002"]) {
    mkdirSync(join(folder, "snapshots", name), { recursive: true });
    writeFileSync(join(folder, "snapshots", name, "notes.txt"), "no model");
  }
  const snapshots = [
    { name: "0001", sinceStartMs: 4000, digest: "a", files: 1, bytes: 8 },
    { name: "0002", sinceStartMs: 5000, digest: "b", files: 1, bytes: 8 },
  ];
  writeJson(join(folder, "snapshots", "index.json"), {
    formatVersion: 1,
    budgetMs: 9000,
    snapshots,
    dropped: [],
  });
  writeJson(path("admission"), { formatVersion: 1, admitted: true, reasons: [] });
  spoil(folder);
  const inputs = ["trajectory", "ledger", "snapshots", "admission"].flatMap((name) => [
    "--input",
    `${name}=${path(name)}`,
  ]);
  const script = join(import.meta.dirname, "iterations.ts");
  const flags = ["--param", 'publicNames={"official":["blimp"]}', "--param", "data=official"];
  execFileSync(process.execPath, [script, ...inputs, ...flags, "--output", `iterations=${path("out.json")}`]);
  return readJson(path("out.json")) as ReadIterations;
}

test("an attempt's own line and snapshot become one iteration, and its program is a run that measured", (t) => {
  const { kind, iterations, measures } = found(t);
  assert.equal(kind, "found");
  assert.deepEqual(
    (iterations as Record<string, unknown>[]).map(({ id, source, counts }) => [id, source, counts]),
    [["a", "agent", true]],
  );
  assert.deepEqual(measures?.runs, { ended: 1, failed: 0, measured: 1 });
  assert.equal(measures?.firstValidBy, "admitted");
  assert.equal(
    measures?.firstValidMs,
    8000,
    "no snapshot holds a model: only what was admitted at the end does",
  );
});

test("tool calls that name a benchmark of the task's scorers are counted", (t) => {
  const calls = ["blimp", "mmlu", "bits"].map((name) =>
    exampleEvent("tool-call", {
      name: "shell",
      input: JSON.stringify({ command: `lm_eval --tasks ${name}` }),
    }),
  );
  const counted = (events: TrajectoryEvent[]) =>
    found(t, undefined, undefined, events).measures?.benchmarkCalls;
  assert.deepEqual(counted(calls), { kind: "counted", calls: 1, names: ["blimp"] });
  assert.deepEqual(counted([]), { kind: "not-measured", reason: "no-tool-calls" });
});

test("line separators of Unicode in a program's output change nothing", (t) => {
  const { kind, measures } = found(t, undefined, '\u2028{"dev_loss": 2.3830}\u2029\r\u0085\n');
  assert.equal(kind, "found");
  assert.deepEqual(measures?.runs, { ended: 1, failed: 0, measured: 1 });
});

test("a changed, cut or malformed trajectory is not measured, with place and reason", (t) => {
  const reason = (spoil: (folder: string) => void) => {
    const { kind, reason: said } = found(t, spoil);
    assert.equal(kind, "not-measured");
    return said;
  };
  const edited = (change: (text: string) => string) => (folder: string) => {
    const path = join(folder, "trajectory");
    writeFileSync(path, change(readFileSync(path, "utf8")));
  };
  assert.match(
    reason(edited((text) => text.replace("2.3830", "1.3830")))!,
    /broken at line 4: does not follow/,
  );
  assert.match(reason(edited((text) => text.slice(0, -400)))!, /the trajectory is broken at line \d/);
  assert.match(reason(edited(() => ""))!, /no lines/);
  assert.match(reason((folder) => appendFileSync(join(folder, "trajectory"), "{}\n"))!, /broken at line 10/);
  assert.match(
    reason((folder) => truncateSync(join(folder, "snapshots/index.json"), 17 << 20))!,
    /the index of the snapshots: 17825792 bytes; at most 16777216 are read/,
  );
  assert.match(
    reason((folder) =>
      writeJson(join(folder, "ledger"), { formatVersion: 1, none: "there was no attempt" }),
    )!,
    /there was no attempt/,
  );
});

test("snapshots with an index that points elsewhere, or without one, are not measured, with the reason", (t) => {
  const hostile = { name: "../../etc", sinceStartMs: 1, digest: "a", files: 1, bytes: 8 };
  const reasonOf = (spoil: (index: string) => void) =>
    found(t, (folder) => spoil(join(folder, "snapshots/index.json"))).reason!;
  const index = { formatVersion: 1, budgetMs: 9000, snapshots: [hostile], dropped: [] };
  assert.match(
    reasonOf((path) => writeJson(path, index)),
    /the index of the snapshots: snapshots\.0\.name is "\.\.\/\.\.\/etc"/,
  );
  assert.match(reasonOf(rmSync), /the index of the snapshots: not there/);
});
