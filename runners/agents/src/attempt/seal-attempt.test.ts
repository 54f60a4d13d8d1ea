import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { SnapshotResult } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { WorkspaceIndex } from "@mlrb/formats/attempt/workspace-index";
import { noInterventions } from "@mlrb/formats/declared/intervention";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { reserveFile } from "@mlrb/kit/files/full-disk";
import { sealTimes } from "@mlrb/kit/processes/seal-times";
import { notKept } from "../folders/kept-workspace.ts";
import { openTrajectory } from "../record/trajectory.ts";
import { testClock } from "../testing/test-clock.ts";
import { AttemptMeter } from "./attempt-meter.ts";
import { type Seal, sealEnded, sealInterrupted } from "./seal-attempt.ts";

const full = () => Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
const taken: SnapshotResult = {
  kind: "taken",
  state: "",
  tree: { files: [], bytes: 0, digest: "d".repeat(64), leftOut: [], leftOutMore: 0, torn: [] },
};

/** An attempt at its end on a disk that is full until `room` is true. */
function atItsEnd(t: TestContext, disk: { room: boolean; pauses: number }): Seal {
  const folder = mkdtempSync(join(tmpdir(), "seal-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const outputs = {
    submission: join(folder, "submission"),
    trajectory: join(folder, "trajectory.jsonl"),
    ledger: join(folder, "ledger.json"),
    snapshots: join(folder, "snapshots"),
    workspace: join(folder, "workspace"),
  };
  mkdirSync(outputs.snapshots);
  mkdirSync(outputs.workspace);
  reserveFile(outputs.ledger, 4096);
  const clock = testClock(() => 1);
  const trajectory = openTrajectory(outputs.trajectory, { now: () => ({ wall: 0, sinceStart: 1 }) });
  const meter = new AttemptMeter({ limits: { timeMs: 1000 }, clock });
  t.after(() => trajectory.close());
  return {
    sandbox: {
      async texts({ to }) {
        if (!disk.room) throw full();
        mkdirSync(to, { recursive: true });
        return { files: [], leftOut: [], leftOutMore: 7 };
      },
    },
    request: { outputs, budget: { timeMs: 1000 } } as Seal["request"],
    clock,
    meter,
    interventions: { close() {}, sums: () => noInterventions },
    gpuUse: { busyMs: () => null, memoryPeakMiB: () => null },
    trajectory: {
      ...trajectory,
      add(event) {
        if (!disk.room) throw new Error("cannot write the trajectory", { cause: full() });
        trajectory.add(event);
      },
    },
    snapshots: {
      async final() {
        if (!disk.room) throw full();
        return taken;
      },
      index: () => ({ formatVersion: 1, budgetMs: 1000, snapshots: [], dropped: [] }),
    },
    iterations: { count: () => ({ wellFormed: 0, malformed: 0, notKept: 0 }) },
    progress: {},
    async pause() {
      if (++disk.pauses === 3) disk.room = true;
    },
  };
}

const keptIn = ({ request }: Seal) => {
  const { folders } = JSON.parse(
    readFileSync(join(request.outputs.workspace!, "index.json"), "utf8"),
  ) as WorkspaceIndex;
  return folders;
};
const ledgerOf = ({ request }: Seal) => JSON.parse(readFileSync(request.outputs.ledger, "utf8")) as Ledger;

test("an attempt that ends on a full disk waits for room, and is then complete", async (t) => {
  const disk = { room: false, pauses: 0 };
  const seal = atItsEnd(t, disk);
  const said = t.mock.method(console, "error", () => {});
  const ledger = await sealEnded(seal, undefined);
  assert.equal(disk.pauses, 3);
  assert.match(
    String(said.mock.calls[0]!.arguments[0]),
    /no space left on the disk; free some where .*trajectory/,
  );
  assert.equal(said.mock.callCount(), 1, "reported once");
  assert.equal(ledger.ended, "finished");
  assert.deepEqual(ledgerOf(seal), ledger);
  assert.deepEqual(
    keptIn(seal).map(({ folder, leftOutMore }) => [folder, leftOutMore]),
    [
      ["workspace", 7],
      ["home", 7],
      ["tmp", 7],
    ],
  );
  const checked = await verifyTrajectory(seal.request.outputs.trajectory, ledger.trajectory);
  assert.deepEqual([checked.kind, "complete" in checked && checked.complete], ["intact", true]);
});

test("texts for which the disk has no room are recorded as not kept, and the attempt does not wait for them", async (t) => {
  const disk = { room: true, pauses: 0 };
  const seal = atItsEnd(t, disk);
  const { texts } = seal.sandbox;
  seal.sandbox.texts = async (request) => {
    if (request.inside !== "home" || disk.pauses > 0) return texts!(request);
    mkdirSync(join(request.to, "half"), { recursive: true });
    throw new Error("cannot keep a copy", { cause: full() });
  };
  const ledger = await sealEnded(seal, undefined);
  assert.deepEqual([ledger.ended, disk.pauses], ["finished", 0]);
  assert.deepEqual(
    keptIn(seal).map(({ folder, over }) => [folder, over]),
    [
      ["workspace", undefined],
      ["home", "not kept: no room on the disk"],
      ["tmp", undefined],
    ],
  );
  const { workspace } = seal.request.outputs;
  assert.deepEqual(readdirSync(join(workspace!, "files")).sort(), ["tmp", "workspace"]);
  assert.ok(
    notKept(workspace).some(({ place, why }) => place === "home" && why === "not kept: no room on the disk"),
  );
});

test("an attempt ended from outside is sealed as interrupted, even if its submission cannot be copied", async (t) => {
  const seal = atItsEnd(t, { room: true, pauses: 0 });
  seal.snapshots.final = async () => {
    throw full();
  };
  await sealInterrupted(seal, new Error("the harness was sent SIGTERM"));
  const ledger = ledgerOf(seal);
  assert.equal(ledger.ended, "interrupted");
  assert.match(ledger.submission.overLimits!, /not copied: ENOSPC.*it is in the workspace/);
  assert.deepEqual(
    keptIn(seal).map(({ over }) => over),
    ["not kept: the attempt was interrupted"],
  );
  assert.equal((await verifyTrajectory(seal.request.outputs.trajectory, ledger.trajectory)).kind, "intact");
});

test("the ledger holds the peak of GPU memory, and no field where it is unknown", async (t) => {
  for (const peak of [38_912, null]) {
    const seal = atItsEnd(t, { room: true, pauses: 0 });
    seal.gpuUse.memoryPeakMiB = () => peak;
    await sealEnded(seal, undefined);
    const { gpuMemoryPeakMiB, ...more } = ledgerOf(seal);
    assert.equal(gpuMemoryPeakMiB, peak ?? undefined);
    assert.equal(more.gpuBusyMs, null);
  }
});

const signalled = new Error("the harness was sent SIGTERM");

test("an interrupted attempt on a full disk does not wait for room", async (t) => {
  const seal = atItsEnd(t, { room: false, pauses: 0 });
  t.mock.method(console, "error", () => {});
  seal.request = { ...seal.request, interrupted: AbortSignal.abort(signalled) };
  await assert.rejects(sealEnded(seal, undefined), /was sent SIGTERM/);
});

const ran = { ending: { kind: "exited", code: 3 } as const, wallMs: 7, workingMs: 5 };

for (const missing of ["the copy of its submission", "its ledger"])
  test(`an ended attempt, interrupted while ${missing} waits for room, keeps its own end if room is freed`, async (t) => {
    const disk = { room: missing === "its ledger", pauses: 0 };
    const seal = atItsEnd(t, disk);
    t.mock.method(console, "error", () => {});
    const ending = new AbortController();
    seal.request = { ...seal.request, interrupted: ending.signal };
    const { busyMs } = seal.gpuUse;
    if (disk.room)
      seal.gpuUse.busyMs = () => {
        throw full();
      };
    seal.pause = async () => ending.abort(signalled);
    await assert.rejects(sealEnded(seal, ran), /was sent SIGTERM/);
    disk.room = true;
    seal.gpuUse.busyMs = busyMs;
    const ledger = await sealInterrupted(seal, signalled);
    assert.equal(ledger?.ended, "agent-error");
    assert.deepEqual([ledger.exit, ledger.wallMs, ledger.workingMs], [{ code: 3 }, 7, 5]);
    const file = seal.request.outputs.trajectory;
    const checked = await verifyTrajectory(file, ledgerOf(seal).trajectory);
    assert.deepEqual([checked.kind, "complete" in checked && checked.complete], ["intact", true]);
    assert.equal(readFileSync(file, "utf8").split('"event":"end"').length, 2, "one end is recorded");
  });

test("an ended attempt counts as interrupted if its submission is not copied in time", async (t) => {
  const seal = atItsEnd(t, { room: true, pauses: 0 });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  seal.snapshots.final = () => new Promise(() => {});
  void sealEnded(seal, ran);
  const sealing = sealInterrupted(seal, signalled);
  t.mock.timers.tick(sealTimes.copied - sealTimes.begin);
  assert.equal(await sealing, undefined);
  assert.equal(ledgerOf(seal).ended, "interrupted");
  assert.match(ledgerOf(seal).submission.overLimits!, /not copied completely in the time that was left/);
});
