// `attempts watch` shows a running attempt live; it reads only.
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { makeAttemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { thisProcess } from "@mlrb/local/leases/owner";
import { exampleCard } from "@mlrb/local/testing/example-record";
import { until } from "./support/processes.ts";
import { startProgram } from "./support/run-program.ts";

const repository = resolve(import.meta.dirname, "..");

/** A folder of an attempt whose supervisor is this process. */
function running(t: TestContext, stage: string) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-watched-"));
  t.after(() => removeFolder(root));
  const gives = [{ name: "trajectory", file: "trajectory.jsonl", kind: "file" as const }];
  const slot = { ...exampleCard.slot, stage };
  const at = join(root, ".mlrb/attempts/running");
  mkdirSync(at, { recursive: true });
  const { path, name } = makeAttemptFolder(at, { ...exampleCard, slot, gives, by: thisProcess() });
  writeFileSync(join(path, "supervisor.json"), JSON.stringify(thisProcess()));
  const trajectory = join(path, "out/trajectory.jsonl");
  let index = 0;
  const tell = (event: TrajectoryEvent) => {
    const place = {
      index: index++,
      previous: "",
      time: "2026-01-01T00:00:00Z",
      sinceStartMs: 61_000 * index,
    };
    appendFileSync(trajectory, `${JSON.stringify({ formatVersion: 1, ...place, ...event })}\n`);
  };
  const watch = (...args: string[]) =>
    startProgram(repository, ["attempts", "watch", ...args, "--root", root], { env: { COLUMNS: "100" } });
  return { name, tell, watch };
}

test("what the agent does is printed as it happens, and the command ends with the attempt", async (t) => {
  const { name, tell, watch } = running(t, "attempt[task=baby-lm]");
  tell(exampleEvent("note", { text: "a first plan\u001b[31m" }));
  const watching = watch(name.slice(0, 14));
  await until("the first event", () => watching.stdout().includes("a first plan"));
  assert.doesNotMatch(watching.stdout(), /\u001b/, "the agent's text cannot control the terminal");
  tell(exampleEvent("output", { text: "step 1\n" }));
  tell(exampleEvent("file-change", { path: "train.py" }));
  await until("the next event", () => watching.stdout().includes("train.py"));
  tell(exampleEvent("end"));
  const { code, stdout } = await watching.ended;
  assert.equal(code, 0);
  assert.match(stdout, /^attempt\[task=baby-lm\]\n +1 m 1 s {2}note: agent: a first plan/);
  assert.doesNotMatch(stdout, /step 1/, "output is for --all");
});

test("without a running attempt it says so, and of several it names them", async (t) => {
  const { watch } = running(t, "attempt");
  const said = await watch("attempt[task=other]").ended;
  assert.equal(said.code, 2);
  assert.equal(
    said.stderr,
    "no-such-attempt: no attempt attempt[task=other] is running here; running: attempt\n",
  );
});
