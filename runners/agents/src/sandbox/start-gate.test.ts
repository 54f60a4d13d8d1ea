import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { ExecResult } from "@mlrb/core/ports/sandbox";
import { startGate } from "./start-gate.ts";

const request = { argv: ["x"], cwd: "/", env: {}, onOutput: () => {} };
const exited: ExecResult = { kind: "exited", code: 0 };

function gated(freezes = true) {
  let started = 0;
  const gate = startGate({
    exec: async () => {
      started++;
      return exited;
    },
    freeze: async () => freezes,
    thaw: async () => true,
    kill: async () => {},
  });
  return { gate, started: () => started };
}

test("a program requested during a freeze starts at the thaw", async () => {
  const { gate, started } = gated();
  await gate.freeze();
  const running = gate.exec(request);
  await setImmediate();
  assert.equal(started(), 0);
  await gate.thaw();
  assert.deepEqual(await running, exited);
  assert.equal(started(), 1);
});

test("a program that waits for a thaw is never started after a kill", async () => {
  const { gate, started } = gated();
  await gate.freeze();
  const running = gate.exec(request);
  await gate.kill();
  assert.deepEqual(await running, { kind: "signalled", signal: "SIGKILL" });
  assert.equal(started(), 0);
  assert.deepEqual(await gate.exec(request), exited, "the next request starts normally");
});

test("if nothing can be frozen no program is held back", async () => {
  const { gate } = gated(false);
  assert.equal(await gate.freeze(), false);
  assert.deepEqual(await gate.exec(request), exited);
});
