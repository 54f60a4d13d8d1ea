import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { StateFolder } from "../store/state-folder.ts";
import { countedUntil, ServiceHours, serviceTotals } from "./service-hours.ts";

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

test("the time of a job that several runs adopted in turn is counted once", (t) => {
  const state = mkdtempSync(join(tmpdir(), "mlrb-hours-"));
  t.after(() => rmSync(state, { recursive: true }));
  const work = join(state, "work/one/slot-1"); // of the run that submitted it
  const until = () => countedUntil({ state }, work);
  assert.equal(until(), undefined);
  const file = join(state, "services.jsonl");
  writeFileSync(file, line("one", 9000, { job: "one/slot-2" }) + line("one", 3600, { job: "one/slot-1" }));
  for (const [run, hours] of [
    ["two", 10],
    ["three", 1],
  ] as const) {
    const startedAt = until()!.toISOString();
    appendFileSync(file, line(run, 0, { startedAt, job: "one/slot-1" }));
    appendFileSync(file, line(run, hours * 3600, { startedAt, job: "one/slot-1" }));
  }
  assert.equal(until()?.toISOString(), "2026-01-01T12:00:00.000Z");
  const [total] = serviceTotals({ state }, { pipeline: "p", profile: "smoke", run: "three" });
  assert.equal(total?.hours, 1);
});

test("a server that a dead run started is counted on from its last end, under its job", (t) => {
  const state = mkdtempSync(join(tmpdir(), "mlrb-hours-"));
  t.after(() => rmSync(state, { recursive: true }));
  const work = join(state, "work/one/slot-1");
  const since = new Date(Date.now() - 7_200_000);
  const instance = { stage: { name: "model" }, execution: { resources: { gpus: 2 } } } as unknown as Instance;
  const plan = { pipeline: "p", profile: "smoke" } as unknown as Plan;
  const context = { plan, run: "two", workspace: { state: { state } as StateFolder } };
  new ServiceHours(instance, context, { job: work, since }).end();
  const passedMs = countedUntil({ state }, work)!.getTime() - Date.now();
  assert.ok(Math.abs(passedMs) < 60_000);
  const [total] = serviceTotals({ state }, { pipeline: "p", profile: "smoke" });
  assert.ok(total !== undefined && Math.abs(total.gpuHours - 4) < 0.1);
});
