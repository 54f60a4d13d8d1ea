import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunEvent } from "@mlrb/local/run/run-request";
import type { ShownWait } from "../show/attempt-wait-text.ts";
import { type EventCommandOptions, eventCommand } from "./event-command.ts";

const counts = { succeeded: 1, reused: 0, failed: 1, skipped: 0, cancelled: 0 };

function scene(
  t: TestContext,
  { command, ...more }: Partial<EventCommandOptions> & { command?: string } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-events-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const told = join(folder, "told");
  const said: string[] = [];
  const events = eventCommand(command ?? `cat >> ${told}`, {
    plan: { pipeline: "p", profile: "q" },
    waits: () => [],
    say: (line) => said.push(line),
    ...more,
  })!;
  const lines = () =>
    readFileSync(told, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { events, lines, said };
}

const ended = (durable: boolean, outcome: object) =>
  ({
    kind: "ended",
    instance: { id: "s", stage: { durable } },
    outcome,
    durationMs: 5,
  }) as unknown as RunEvent;

test("the command gets ended attempts, failed stages and the run's end, in their order, and no reused result", async (t) => {
  const { events, lines, said } = scene(t);
  events.ended(ended(true, { kind: "reused" }));
  events.ended(ended(false, { kind: "succeeded" }));
  events.ended(ended(true, { kind: "succeeded" }));
  events.ended(ended(false, { kind: "failed", cause: "machine", detail: "no room" }));
  events.runEnded(counts);
  await events.finished();
  assert.deepEqual(
    lines().map(({ time: _, durationMs: __, ...line }) => line),
    [
      { event: "attempt-ended", stage: "s", outcome: "succeeded", pipeline: "p", profile: "q" },
      {
        event: "stage-failed",
        stage: "s",
        outcome: "failed",
        cause: "machine: no room",
        pipeline: "p",
        profile: "q",
      },
      { event: "run-ended", ...counts, pipeline: "p", profile: "q" },
    ],
  );
  assert.deepEqual(said, []);
});

test("a wait for a person is told once, with the command that ends it; a provider's short pause is not", async (t) => {
  const wait = { cause: "wrong-key", whose: "operator", detail: "401", nextTry: "", giveUpAt: "" };
  const since = new Date().toISOString();
  const all = [
    { stage: "a", command: "resume a", waits: [{ ...wait, why: "operator", since }] },
    { stage: "b", command: null, waits: [{ ...wait, why: "provider", since }] },
  ] as unknown as ShownWait[];
  let looked = 0;
  const enough = Promise.withResolvers<void>();
  const waits = () => {
    if (++looked === 3) enough.resolve();
    return all;
  };
  const { events, lines } = scene(t, { waits, lookMs: 5 });
  const alive = setInterval(() => {}, 1000);
  await enough.promise;
  clearInterval(alive);
  events.runEnded(counts);
  await events.finished();
  assert.deepEqual(
    lines().map(({ event, stage, mend }) => [event, stage, mend]),
    [
      ["attempt-waits", "a", "resume a"],
      ["run-ended", undefined, undefined],
    ],
  );
});

test("a command that fails, hangs or does not read is reported once and does not hold the run", async (t) => {
  const failing = scene(t, { command: "exit 3" });
  failing.events.ended(ended(true, { kind: "succeeded" }));
  failing.events.runEnded(counts);
  await failing.events.finished();
  assert.deepEqual(failing.said, [
    "warning: --on-event: the command ended with exit 3; later failures of it are not printed",
  ]);
  const hanging = scene(t, { command: "exec sleep 60", limitMs: 100 });
  hanging.events.runEnded(counts);
  await hanging.events.finished();
  assert.match(hanging.said[0]!, /was ended by SIGKILL/);
});

test("the limit ends every program of a command that is a pipeline", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-events-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const pid = join(folder, "pid");
  const command = `sh -c 'echo $$ > ${pid}.new; mv ${pid}.new ${pid}; exec sleep 60' | cat`;
  const { events } = scene(t, { command, limitMs: 800 });
  events.runEnded(counts);
  await events.finished();
  const sleeping = Number(readFileSync(pid, "utf8"));
  for (let look = 0; look < 100 && isRunning(sleeping); look++) await sleep(10);
  assert.equal(isRunning(sleeping), false);
});

/** A zombie has ended: in a container its new parent may never look. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
