import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { Intervention } from "@mlrb/formats/declared/intervention";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { AttemptMeter } from "../attempt/attempt-meter.ts";
import { testClock } from "../testing/test-clock.ts";
import { Interventions, type Numbered } from "./interventions.ts";

const asked = { formatVersion: 1, at: "2026-01-02T03:04:05.000Z", by: "A. Lee" } as const;
const hour = (addedMs = 3_600_000, addedDollars = 0): Intervention => ({
  kind: "extend",
  ...asked,
  ...{ addedMs, addedDollars },
});

function at(t: TestContext, earlier: Numbered[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "interventions-"));
  t.after(() => removeFolder(folder));
  const file = join(folder, "interventions.jsonl");
  const written: TrajectoryEvent[] = [];
  const write = (event: TrajectoryEvent) => void written.push(event);
  const all = new Interventions({ file, earlier, write });
  const ask = (...lines: Intervention[]) =>
    appendFileSync(file, lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return { all, ask, written, file };
}

test("an extension counts once it is in the trajectory, and never before the trajectory has its start", (t) => {
  const { all, ask, written } = at(t);
  ask(hour());
  assert.deepEqual([all.sums().addedMs, written.length], [0, 0]);
  all.open();
  assert.equal(all.sums().addedMs, 3_600_000);
  const facts = { number: 1, by: "A. Lee", addedMs: 3_600_000, addedDollars: 0 };
  assert.deepEqual(written, [{ event: "extended", ...facts }]);
  all.close();
  ask(hour());
  assert.deepEqual([all.sums().extensions, written.length], [1, 1], "after the end nothing is written");
});

test("a line that was cut off does not count, and a later line does", (t) => {
  const { all, ask, written, file } = at(t);
  all.open();
  appendFileSync(file, '{"kind":"extend","add');
  assert.equal(all.sums().extensions, 0);
  appendFileSync(file, "\n");
  ask(hour());
  assert.equal(all.sums().extensions, 1);
  assert.deepEqual(written, [
    { event: "extended", number: 2, by: "A. Lee", addedMs: 3_600_000, addedDollars: 0 },
  ]);
});

test("after a restart nothing is written or counted twice", (t) => {
  const { all, ask, written } = at(t, [
    { kind: "extend", number: 1, by: "A. Lee", addedMs: 3_600_000, addedDollars: 2 },
  ]);
  ask(hour(3_600_000, 2), hour(60_000));
  assert.equal(all.sums().addedMs, 3_600_000, "before the trajectory says that the attempt continues");
  all.open();
  const sums = { extensions: 2, addedMs: 3_660_000, addedDollars: 2 };
  assert.deepEqual([all.sums(), written.length], [sums, 1]);
});

test("a write that fails leaves the extension without effect", (t) => {
  const { ask, file } = at(t);
  ask(hour());
  const write = () => {
    throw new Error("no space left");
  };
  const full = new Interventions({ file, earlier: [], write });
  full.open();
  assert.throws(() => full.sums(), /no space left/);
  full.close();
  assert.equal(full.sums().extensions, 0);
});

test("an extension moves the deadline and every limit that there is, and adds no limit", async (t) => {
  const { all, ask } = at(t);
  all.open();
  const moves: number[] = [];
  const moved = async (deadline: number) => void moves.push(deadline);
  const clock = testClock(() => 900);
  const added = () => all.sums();
  const meter = new AttemptMeter({ limits: { timeMs: 1_000, dollars: 1 }, clock, added, moved });
  const timed = new AttemptMeter({ limits: { timeMs: 1_000 }, clock, added });
  assert.equal(meter.usedShare(), 0.9);
  ask(hour(9_000, 4));
  assert.deepEqual([meter.leftMs(), meter.usedShare()], [9_100, 0.09]);
  assert.deepEqual(meter.limits(), { timeMs: 10_000, dollars: 5 });
  assert.deepEqual(timed.limits(), { timeMs: 10_000 });
  await meter.tellExtension();
  await meter.tellExtension();
  assert.deepEqual(moves, [meter.deadline()]);
});
