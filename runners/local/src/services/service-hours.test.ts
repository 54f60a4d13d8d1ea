import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { serviceTotals } from "./service-hours.ts";

const line = (run: string, seconds: number, more: Record<string, unknown> = {}) =>
  `${JSON.stringify({
    formatVersion: 1,
    service: "model",
    pipeline: "p",
    profile: "smoke",
    run,
    startedAt: "2026-01-01T00:00:00Z",
    gpus: 2,
    seconds,
    ...more,
  })}\n`;

test("of each start the last line counts, for one run or for all runs of a pipeline and profile", (t) => {
  const state = mkdtempSync(join(tmpdir(), "mlrb-hours-"));
  t.after(() => rmSync(state, { recursive: true }));
  const wanted = { pipeline: "p", profile: "smoke" };
  assert.deepEqual(serviceTotals({ state }, wanted), []);
  writeFileSync(
    join(state, "services.jsonl"),
    [
      line("one", 0),
      line("one", 1800),
      line("two", 3600),
      line("two", 3600, { startedAt: "2026-01-02T00:00:00Z", gpus: 0 }),
      line("two", 3600, { profile: "paper" }),
      line("two", 7200).slice(0, 40),
    ].join(""),
  );
  const total = { service: "model", starts: 3, hours: 2.5, gpuHours: 3 };
  assert.deepEqual(serviceTotals({ state }, wanted), [total]);
  assert.deepEqual(serviceTotals({ state }, { ...wanted, run: "one" }), [
    { service: "model", starts: 1, hours: 0.5, gpuHours: 1 },
  ]);
});
