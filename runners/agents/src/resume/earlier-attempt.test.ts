import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { noLine, verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { canonicalJson } from "@mlrb/kit/json-file";
import { startClock } from "../attempt/supervision.ts";
import { openTrajectory } from "../record/trajectory.ts";
import { type EarlierAttempt, readEarlier, withoutLostSnapshots } from "./earlier-attempt.ts";

const begun = Date.parse("2026-01-02T03:00:00.000Z");

/** A trajectory with an event every ten seconds, and its meter's last line. */
function left(t: TestContext, events: TrajectoryEvent[], spending: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), "earlier-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const trajectory = join(folder, "trajectory.jsonl");
  let previous = noLine;
  const lines = events.map((event, index) => {
    const sinceStartMs = 10_000 * index;
    const time = new Date(begun + sinceStartMs).toISOString();
    const line = canonicalJson({ formatVersion: 1, index, previous, time, sinceStartMs, ...event });
    previous = hash("sha256", line);
    return `${line}\n`;
  });
  writeFileSync(trajectory, lines.join(""));
  const none = { inputTokens: 0, outputTokens: 0, dollars: 0 };
  const calls = { calls: 1, failedTries: 0, uncounted: 0, ...none, cachedInputTokens: 0, reasoningTokens: 0 };
  const last = {
    formatVersion: 1,
    workingMs: 20_000,
    sinceStartMs: 25_000,
    ...calls,
    waitedMs: {},
    ...spending,
  };
  writeFileSync(join(folder, "spending.jsonl"), `${canonicalJson(last)}\n{"torn`);
  return { folder, trajectory, spending: join(folder, "spending.jsonl") };
}

const start: TrajectoryEvent = { ...exampleEvent("start"), kind: "llm" };
const talk: TrajectoryEvent[] = [start, exampleEvent("message"), exampleEvent("model-call")];
const call = exampleEvent("tool-call");

async function read(files: Parameters<typeof readEarlier>[0]): Promise<EarlierAttempt> {
  const earlier = await readEarlier(files);
  if (typeof earlier === "string") assert.fail(earlier);
  return earlier;
}

test("if the files are kept, working time continues from the last sign of life, and none is given back", async (t) => {
  const events = [...talk, call, exampleEvent("output"), exampleEvent("output")];
  const earlier = await read(left(t, events));
  assert.equal(earlier.step, 1);
  assert.equal(earlier.after, 6);
  // 5 s were frozen by the meter; the call began at 30 s, and the last sign is at 50 s
  assert.deepEqual(earlier.clock, { sinceStartMs: 50_000, workingMs: 45_000, creditedMs: 0 });
});

test("a program continues from its last sign of life", async (t) => {
  const events = [{ ...start, kind: "command" }, exampleEvent("exec"), exampleEvent("output")];
  const earlier = await read(left(t, events, { sinceStartMs: 42_000, workingMs: 40_000 }));
  assert.deepEqual(earlier.clock, { sinceStartMs: 42_000, workingMs: 40_000, creditedMs: 0 });
});

test("a last line that was cut off is removed, and any other damage ends the attempt", async (t) => {
  const files = left(t, talk);
  const whole = readFileSync(files.trajectory, "utf8");
  writeFileSync(files.trajectory, `${whole}{"event":"note`);
  assert.equal((await read(files)).droppedBytes, 14);
  assert.equal(readFileSync(files.trajectory, "utf8"), whole);
  writeFileSync(files.trajectory, whole.replace('"sinceStartMs":10000', '"sinceStartMs":10001'));
  assert.match(String(await readEarlier(files)), /^its trajectory is damaged at line 3: does not follow/);
  writeFileSync(files.trajectory, "");
  assert.match(String(await readEarlier(files)), /^its trajectory is damaged at line 1: no lines/);
});

test("after two restarts the conversation lacks what the first one left behind", async (t) => {
  const second = { ...exampleEvent("model-call"), call: 2, text: "left behind" };
  const back: TrajectoryEvent = {
    ...{ event: "resumed", times: 1, after: 3, step: 1, workspace: "restore-point" },
    ...{ workingMs: 15_000, creditedMs: 20_000 },
  };
  const third = { ...exampleEvent("model-call"), call: 3, text: "after the restart" };
  const earlier = await read(
    left(t, [...talk, call, second, back, third], { sinceStartMs: 0, workingMs: 0 }),
  );
  assert.deepEqual([earlier.times, earlier.step, earlier.calls], [1, 2, 3]);
  assert.deepEqual(
    earlier.tape.map((event) => ("text" in event ? event.text : event.event)),
    ["", "", "after the restart"],
  );
});

test("without the sandbox's files the attempt returns to the place of its restore point, with its snapshots and iterations", async (t) => {
  const snapshot = (name: string): TrajectoryEvent => ({ ...exampleEvent("snapshot"), name });
  const events = [
    ...talk,
    snapshot("0001"),
    exampleEvent("iteration"),
    call,
    snapshot("0002"),
    exampleEvent("iteration"),
  ];
  const files = left(t, events, { sinceStartMs: 0, workingMs: 0 });
  const restorePoints = join(files.folder, "restore-points");
  assert.match(
    String(await readEarlier({ ...files, restorePoints })),
    /are gone, and it has no restore point/,
  );
  mkdirSync(restorePoints);
  const restorePoint = { formatVersion: 1, after: 5, workingMs: 45_000, entries: [] };
  writeFileSync(join(restorePoints, "0001.json"), JSON.stringify(restorePoint));
  const earlier = await read({ ...files, restorePoints });
  assert.deepEqual([earlier.after, earlier.step, earlier.tape.length], [5, 1, 2]);
  assert.deepEqual(earlier.clock, { sinceStartMs: 70_000, workingMs: 45_000, creditedMs: 25_000 });
  assert.deepEqual(earlier.iterations, { wellFormed: 1, malformed: 0 });
  assert.deepEqual(
    earlier.snapshots.kept.map(({ name }) => name),
    ["0001"],
  );
  assert.deepEqual(earlier.snapshots.gone, ["0002"]);
});

test("on a host whose clock is an hour behind, times do not go back, and the deadline is as far ahead as time is left", async (t) => {
  const files = left(t, talk);
  t.mock.timers.enable({ apis: ["Date"], now: begun - 3_600_000 });
  const earlier = await read(files);
  const clock = startClock({ freeze: async () => true, thaw: async () => true } as never, earlier.clock);
  assert.ok(Math.abs(clock.workingMs() - earlier.clock.workingMs) < 1000);
  const deadline = clock.startedWall + 60_000 + clock.frozenMs();
  assert.ok(Math.abs(deadline - Date.now() - (60_000 - earlier.clock.workingMs)) < 1000);
  const behindMs = Math.max(0, earlier.trajectory.timeMs - Date.now());
  const now = () => ({ wall: Date.now() + behindMs, sinceStart: clock.sinceStart() });
  const trajectory = openTrajectory(files.trajectory, { now, earlier: earlier.trajectory });
  trajectory.add(exampleEvent("note"));
  trajectory.close();
  const check = await verifyTrajectory(files.trajectory, trajectory.seal());
  assert.deepEqual([check.kind, trajectory.seal().lines], ["intact", 4]);
  const lines = readFileSync(files.trajectory, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(lines[3].time >= lines[2].time && lines[3].sinceStartMs >= lines[2].sinceStartMs);
});

test("a snapshot with a path as its name is none: a full disk would remove that folder", async (t) => {
  const taken = (name: string) => ({ ...exampleEvent("snapshot"), name });
  const at = left(t, [...talk, taken("0001"), taken("../.."), taken("final"), taken("a/../0001")]);
  assert.deepEqual(
    (await read(at)).snapshots.kept.map(({ name }) => name),
    ["0001"],
  );
});

test("a snapshot whose folder is gone is dropped, and is not kept as if it were there", async (t) => {
  const taken = (name: string) => ({ ...exampleEvent("snapshot"), name });
  const at = left(t, [...talk, taken("0001"), taken("0002")]);
  mkdirSync(join(at.folder, "snapshots/0002"), { recursive: true });
  const { snapshots } = withoutLostSnapshots(await read(at), join(at.folder, "snapshots"));
  const names = (all: { name: string }[]) => all.map(({ name }) => name);
  assert.deepEqual(
    [names(snapshots.kept), names(snapshots.dropped), snapshots.gone],
    [["0002"], ["0001"], ["0001"]],
  );
});
