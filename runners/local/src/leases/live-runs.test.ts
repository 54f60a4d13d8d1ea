import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { liveRuns } from "./live-runs.ts";
import { thisProcess } from "./owner.ts";

/** A state folder with the given runs: their owners, their journals, and the leases they hold. */
function scene(t: TestContext) {
  const above = mkdtempSync(join(tmpdir(), "mlrb-live-"));
  t.after(() => rmSync(above, { recursive: true }));
  const state = {
    work: join(above, "work"),
    leases: join(above, "leases"),
    journals: join(above, "journals"),
  };
  for (const folder of Object.values(state)) mkdirSync(folder);
  const run = (name: string, owner: Partial<Owner>, told: { lines: string[]; leases: string[] }) => {
    mkdirSync(join(state.work, name));
    const card = join(state.work, name, "owner.json");
    writeFileSync(card, JSON.stringify({ ...thisProcess(), ...owner }));
    for (const key of told.leases) linkSync(card, join(state.leases, key));
    writeFileSync(join(state.journals, `${name}.jsonl`), told.lines.join("\n"));
  };
  return { state, run };
}

const time = "2026-01-31T10:00:00.000Z";
const begin = JSON.stringify({ event: "begin", time, pipeline: "p", profile: "smoke", selection: "" });
const start = (stage: string, key: string) =>
  JSON.stringify({ event: "start", time: "2026-01-31T10:00:05.000Z", stage, key });
const end = (stage: string) => JSON.stringify({ event: "stage", time, stage });
const running = (state: Parameters<typeof liveRuns>[0]) =>
  liveRuns(state).map(({ run, stages }) => [run, stages.map(({ stage }) => stage)]);

test("a live run's stages are those that began, have not ended and have a lease, with their start", (t) => {
  const { state, run } = scene(t);
  const lines = [begin, start("a", "k1"), start("b", "k2"), end("a"), start("c", "k3")];
  run("20260131T100000Z-1xaa", {}, { lines, leases: ["k2", "k3"] });
  const [found] = liveRuns(state);
  assert.deepEqual(found!.stages, [
    { stage: "b", since: "2026-01-31T10:00:05.000Z" },
    { stage: "c", since: "2026-01-31T10:00:05.000Z" },
  ]);
  const { pipeline, profile, selection, since, life } = found!;
  assert.deepEqual(
    { pipeline, profile, selection, since, life },
    { pipeline: "p", profile: "smoke", selection: "", since: time, life: "alive" },
  );
  assert.equal(found!.owner.pid, process.pid);
});

test("a stage that a scheduler runs is queued until it has a node, and again once it is retried", (t) => {
  const { state, run } = scene(t);
  const at = (second: number) => `2026-01-31T10:00:0${second}.000Z`;
  const line = (event: string, second: number, more = {}) =>
    JSON.stringify({ event, time: at(second), stage: "a", ...more });
  const lines = [begin, start("a", "k1"), line("submitted", 6)];
  const place = () => liveRuns(state)[0]!.stages[0]!.place;
  run("20260131T100000Z-1xaa", {}, { lines, leases: ["k1"] });
  const journal = join(state.journals, "20260131T100000Z-1xaa.jsonl");
  const more = (...added: string[]) => writeFileSync(journal, `\n${added.join("\n")}`, { flag: "a" });
  assert.deepEqual(place(), { kind: "queued", since: at(6) });
  more(line("placed", 7, { node: "n1", job: "12", queuedMs: 1000 }));
  assert.deepEqual(place(), { kind: "node", node: "n1", since: at(7), queuedMs: 1000 });
  more(line("retry", 8));
  assert.equal(place(), undefined);
  more(line("submitted", 9));
  assert.deepEqual(place(), { kind: "queued", since: at(9) });
});

test("a dead run is not live, whatever it left", (t) => {
  const { state, run } = scene(t);
  run("20260131T100000Z-1xaa", { started: "1" }, { lines: [begin, start("a", "k1")], leases: ["k1"] });
  assert.deepEqual(liveRuns(state), []);
});

test("a run on another host is shown as elsewhere", (t) => {
  const { state, run } = scene(t);
  run("20260131T100000Z-1xaa", { host: "gpu2" }, { lines: [begin, start("a", "k1")], leases: ["k1"] });
  assert.deepEqual(
    liveRuns(state).map(({ life, owner, stages }) => [life, owner.host, stages.length]),
    [["elsewhere", "gpu2", 1]],
  );
});

test("a lease that another run took over, or that was released, is not this run's", (t) => {
  const { state, run } = scene(t);
  run("20260131T100000Z-1xaa", {}, { lines: [begin, start("a", "k1"), start("b", "k2")], leases: ["k2"] });
  run("20260131T110000Z-2xbb", { host: "gpu2" }, { lines: [begin, start("a", "k1")], leases: ["k1"] });
  assert.deepEqual(running(state), [
    ["20260131T100000Z-1xaa", ["b"]],
    ["20260131T110000Z-2xbb", ["a"]],
  ]);
});

test("a partly written or missing journal hides no other run or stage", (t) => {
  const { state, run } = scene(t);
  run(
    "20260131T100000Z-1xaa",
    {},
    { lines: ["null", "7", begin, start("a", "k1"), '{"event":"sta'], leases: ["k1"] },
  );
  run("20260131T110000Z-2xbb", {}, { lines: [], leases: [] });
  writeFileSync(join(state.work, "stray"), "");
  assert.deepEqual(running(state), [["20260131T100000Z-1xaa", ["a"]]]);
});

test("without any earlier run there is no live run", () => {
  assert.deepEqual(
    liveRuns({ work: "/nowhere/work", leases: "/nowhere/leases", journals: "/nowhere/j" }),
    [],
  );
});
