import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerState } from "@mlrb/formats/stage/container-state";
import { lastLine, type StageEnd, stageOutcome } from "./stage-outcome.ts";

const state: ContainerState = { Status: "exited", ExitCode: 0, OOMKilled: false, Error: "", StartedAt: "" };
const ended = (more: Partial<ContainerState> = {}, rest: Partial<StageEnd> = {}) =>
  stageOutcome({
    why: undefined,
    end: { kind: "exited", state: { ...state, ...more } },
    limits: {},
    where: { engine: "docker 1" },
    ...rest,
  });

test("the engine's record decides, and lack of memory overrides any exit code", () => {
  assert.deepEqual(ended(), { kind: "succeeded", where: { engine: "docker 1" } });
  assert.deepEqual(ended({ ExitCode: 126 }), {
    kind: "failed",
    cause: "exit-code",
    detail: "exit status 126",
  });
  for (const ExitCode of [0, 1, 137])
    assert.deepEqual(ended({ OOMKilled: true, ExitCode }, { limits: { memoryBytes: 7 } }), {
      kind: "failed",
      cause: "out-of-memory",
      detail: "held more than 7 bytes of memory",
    });
});

test("the reason for ending a container overrides how it ended", () => {
  const killed = { ExitCode: 137, OOMKilled: true };
  assert.deepEqual(ended(killed, { why: "cancelled" }), { kind: "cancelled" });
  const late = ended(killed, { why: "time-limit", limits: { timeMs: 90_000 } });
  assert.equal(late.kind === "failed" && late.cause, "time-limit");
  assert.match(lastLine(late)!, /^mlrb: did not end within .* \(limits.time\) and was ended\n$/);
});

test("the engine's trouble is the machine's failure, and an exit code adds no line to the log", () => {
  const end = { kind: "trouble", detail: "gone" } as const;
  assert.deepEqual(ended({}, { end }), { kind: "failed", cause: "machine", detail: "gone" });
  assert.equal(lastLine(ended({ ExitCode: 2 })), undefined);
  assert.equal(lastLine(ended()), undefined);
});
