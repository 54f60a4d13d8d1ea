// A whole attempt behind bubblewrap's walls.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { bubblewrapMissing } from "../sandbox/bubblewrap-abilities.ts";
import { bubblewrapWalls } from "../sandbox/bubblewrap-walls.ts";
import { walledSandbox } from "../sandbox/walled-sandbox.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { runAttempt } from "./run-attempt.ts";

const missing = await bubblewrapMissing();
const needsBubblewrap = { timeout: 60_000, ...(missing !== undefined && { skip: missing }) };

async function attempt(
  t: TestContext,
  script: string,
  changes: Partial<AttemptRequest> = {},
  gpus: Gpu[] = [],
) {
  const folder = mkdtempSync(join(tmpdir(), "walled-attempt-"));
  t.after(async () => {
    await removeDiskImages(folder); // the sandbox is closed only after this
    removeFolder(folder);
  });
  const at = (name: string) => join(folder, name);
  for (const name of ["data", "program", "scratch", "submission"]) mkdirSync(at(name));
  writeFileSync(at("data/train.txt"), "public\n");
  writeFileSync(at("program/agent.sh"), script);
  const outputs = {
    submission: at("submission"),
    trajectory: at("trajectory.jsonl"),
    ledger: at("ledger.json"),
    snapshots: at("snapshots"),
  };
  const sandbox = await walledSandbox({
    ...{ under: at("work"), agent: "test", kind: "bubblewrap", open: bubblewrapWalls },
    ...{ reads: [], network: "none", gpus, token: `attempttest${process.pid}` },
    limits: { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 26, cpus: 1 },
  });
  t.after(() => sandbox.close());
  const ledger = await runAttempt(sandbox, {
    ...{ task: "some-task", agent: "test", seed: 7, kind: "command", command: ["sh", "./agent.sh"] },
    ...{
      program: at("program"),
      prompt: "Seed {{seed}}.\n",
      publicData: at("data"),
      budget: { timeMs: 20_000 },
      outputs,
    },
    ...{ scratch: at("scratch"), limits: { bytesMax: 1 << 20, filesMax: 100 }, pollMs: 50, ...changes },
  });
  const events = readFileSync(outputs.trajectory, "utf8").trimEnd().split("\n");
  const said = events.map((line) => JSON.parse(line)).filter(({ event }) => event === "output");
  return { ledger, outputs, said: said.map(({ text }) => text).join("") };
}

test("an agent behind walls finds its workspace, and its submission is taken", needsBubblewrap, async (t) => {
  const { ledger, outputs, said } = await attempt(
    t,
    'pwd; head -n 1 TASK.md; cat data/train.txt; ls; touch data/x 2>/dev/null || echo held; echo mine > "$MLRB_SUBMISSION/model"',
  );
  assert.equal(
    said,
    "/attempt/workspace\nSeed 7.\npublic\nTASK.md\ndata\ndeadline\niterations.jsonl\nsubmission\nheld\n",
  );
  assert.equal(ledger.ended, "finished");
  assert.equal(readFileSync(join(outputs.submission, "model"), "utf8"), "mine\n");
});

test(
  "at the time limit the submission is taken, and detached programs write nothing after it",
  needsBubblewrap,
  async (t) => {
    // slowly: a submission over the size limit is not taken
    const away = 'while :; do echo more >> "$MLRB_SUBMISSION/model"; sleep 0.005; done';
    const script = `setsid sh -c '${away}' & trap '' TERM; sleep 600`;
    // a loaded machine may need longer than the first budget to start the agent at all
    for (const budgetMs of [1_500, 6_000, 24_000]) {
      const { ledger, outputs } = await attempt(t, script, { budget: { timeMs: budgetMs } });
      assert.equal(ledger.ended, "time-limit");
      const taken = readdirSync(outputs.submission);
      if (taken.length === 0 && budgetMs < 24_000) continue;
      assert.deepEqual(taken, ["model"]);
      assert.equal(statSync(join(outputs.submission, "model")).size, ledger.submission.bytes);
      return;
    }
  },
);

test("an agent sees the UUIDs of its own GPUs only (fake GPUs)", needsBubblewrap, async (t) => {
  const gpu = (index: number, uuid: string): Gpu => ({
    ...{ index, uuid, model: "fake", memoryBytes: 1, driver: "0", slice: false },
  });
  const script = 'echo "$CUDA_VISIBLE_DEVICES"';
  const { said } = await attempt(t, script, {}, [gpu(3, "GPU-fake-d"), gpu(1, "GPU-fake-b")]);
  assert.equal(said, "GPU-fake-d,GPU-fake-b\n");
});
