import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { heldCall } from "../testing/held-call.ts";
import { AttemptClock, type ClockOptions } from "./attempt-clock.ts";
import { AttemptMeter } from "./attempt-meter.ts";
import type { BudgetLimits, HeldCall } from "./meter.ts";

function meterOf(
  t: TestContext,
  limits: BudgetLimits,
  { stopped, ...freezes }: Partial<Sandboxed> & Pick<ClockOptions, "stopped"> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "meter-"));
  t.after(() => removeFolder(folder));
  const file = join(folder, "spending.jsonl");
  const time = { now: 0 };
  const waits: unknown[] = [];
  const moves: number[] = [];
  const sandbox = { freeze: async () => true, thaw: async () => true, ...freezes };
  const clock = new AttemptClock({
    ...{ sandbox, startedWall: 1_000_000, sinceStart: () => time.now },
    ...(stopped && { stopped }),
  });
  const meter = new AttemptMeter({
    limits,
    clock,
    file,
    waited: (wait) => void waits.push(wait),
    moved: async (deadline) => void moves.push(deadline),
  });
  t.after(() => meter.close());
  return { meter, time, clock, file, waits, moves };
}

type Sandboxed = Pick<Sandbox, "freeze" | "thaw">;

const usage = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens: null,
  reasoningTokens: 1,
});

test("a call is neither counted nor sent once the attempt is another supervisor's", (t) => {
  const { file } = meterOf(t, { timeMs: 10_000 });
  const before = readFileSync(file, "utf8");
  let lost = false;
  const checkClaim = () => {
    if (lost) throw new Error("lost");
  };
  const clock = new AttemptClock({
    ...{ sandbox: { freeze: async () => true, thaw: async () => true }, startedWall: 0 },
    sinceStart: () => 0,
  });
  const meter = new AttemptMeter({ limits: { timeMs: 10_000 }, clock, file, checkClaim });
  t.after(() => meter.close());
  const own = readFileSync(file, "utf8");
  assert.notEqual(own, before);
  lost = true;
  assert.throws(() => meter.hold({ tokens: 1, dollars: 0 }), /lost/);
  assert.equal(readFileSync(file, "utf8"), own);
});

test("frozen waits move the deadline, and overlapping waits count once", async (t) => {
  const { meter, time, clock, waits, moves } = meterOf(t, { timeMs: 10_000 });
  time.now = 1000;
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = meter.waiting("rate-limit", () => first.promise);
  await setImmediate();
  time.now = 2000;
  assert.equal(meter.leftMs(), 9000, "the clock is stopped meanwhile");
  assert.equal(meter.deadline(), 1_000_000 + 11_000);
  const two = meter.waiting("provider", () => second.promise);
  time.now = 4000;
  first.resolve();
  await one;
  time.now = 5000;
  second.resolve();
  await two;
  time.now = 6000;
  assert.equal(clock.workingMs(), 2000);
  assert.equal(meter.deadline(), 1_000_000 + 14_000);
  assert.deepEqual(meter.spending().waitedMs, { "rate-limit": 3000, provider: 3000 });
  assert.deepEqual(waits, [
    { why: "rate-limit", durationMs: 3000, frozenMs: 3000, deadline: 1_013_000 },
    { why: "provider", durationMs: 3000, frozenMs: 3000, deadline: 1_014_000 },
  ]);
  assert.deepEqual(moves, [1_013_000, 1_014_000]);
});

test("a wait without a complete freeze counts as work, and records why", async (t) => {
  for (const freezes of [{ freeze: async () => false }, { thaw: async () => false }]) {
    const { meter, time, waits, moves } = meterOf(t, { timeMs: 10_000 }, freezes);
    const wait = Promise.withResolvers<void>();
    const waiting = meter.waiting("provider", () => wait.promise);
    await setImmediate();
    time.now = 3000;
    wait.resolve();
    await waiting;
    assert.equal(meter.leftMs(), 7000);
    assert.equal(meter.deadline(), 1_010_000);
    const charged = { why: "provider", durationMs: 3000, frozenMs: 0, charged: "cannot-freeze" };
    assert.deepEqual(waits, [{ ...charged, deadline: 1_010_000 }]);
    assert.deepEqual(moves, []);
  }
});

test("an announced deadline is withdrawn if the thaw shows that something ran", async (t) => {
  const { meter, time, moves } = meterOf(t, { timeMs: 10_000 }, { thaw: async () => false });
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = meter.waiting("rate-limit", () => first.promise);
  const two = meter.waiting("rate-limit", () => second.promise);
  await setImmediate();
  time.now = 3000;
  first.resolve();
  await one;
  time.now = 5000;
  second.resolve();
  await two;
  assert.deepEqual(moves, [1_013_000, 1_010_000]);
  assert.equal(meter.deadline(), 1_010_000);
});

test("only the frozen part of a wait moves the deadline", async (t) => {
  const frozen = Promise.withResolvers<boolean>();
  const { meter, time, clock } = meterOf(t, { timeMs: 10_000 }, { freeze: () => frozen.promise });
  const wait = Promise.withResolvers<void>();
  const waiting = meter.waiting("provider", () => wait.promise);
  time.now = 400;
  frozen.resolve(true);
  await setImmediate();
  time.now = 3000;
  wait.resolve();
  await waiting;
  assert.equal(clock.workingMs(), 400);
});

test("a wait reported afterwards does not move the deadline", (t) => {
  const { meter, time, clock, waits } = meterOf(t, { timeMs: 10_000 });
  time.now = 5000;
  meter.waited("provider", 4000);
  assert.equal(clock.workingMs(), 5000);
  assert.deepEqual(meter.spending().waitedMs, { provider: 4000 });
  const recorded = { why: "provider", durationMs: 4000, frozenMs: 0, charged: "reported-afterwards" };
  assert.deepEqual(waits, [{ ...recorded, deadline: 1_010_000 }]);
});

test("a failure ends its wait", async (t) => {
  const { meter, time, clock } = meterOf(t, { timeMs: 10_000 });
  await assert.rejects(
    meter.waiting("provider", () => Promise.reject(new Error("gone"))),
    /gone/,
  );
  time.now = 500;
  assert.equal(clock.workingMs(), 500);
});

test("tokens and dollars end a budget, and an unknown price stays unknown instead of zero", (t) => {
  const { meter } = meterOf(t, { timeMs: 10_000, tokens: 100, dollars: 1 });
  meter.charge({ usage: usage(30, 20), dollars: 0.25, answered: true }, heldCall);
  assert.equal(meter.usedShare(), 0.5);
  assert.equal(meter.over(), undefined);
  meter.charge({ usage: null, dollars: null, answered: false }, heldCall);
  assert.equal(meter.spending().dollars, 0.25, "a failed try without usage may have cost nothing");
  assert.equal(meter.spending().uncounted, 1);
  meter.charge({ usage: usage(1, 1), dollars: null, answered: true }, heldCall);
  assert.equal(meter.spending().dollars, null);
  meter.charge({ usage: usage(1, 1), dollars: 0.8, answered: true }, heldCall);
  assert.equal(meter.spending().dollars, null, "a sum with an unknown part stays unknown");
  assert.deepEqual(meter.over()?.limit, "dollars", "but known costs count against the limit");
  meter.charge({ usage: usage(40, 20), dollars: 0, answered: true }, heldCall);
  assert.equal(meter.over()?.limit, "tokens");
});

test("limits count upper estimates of missing usage, and the ledger keeps estimates separate", (t) => {
  const { meter } = meterOf(t, { timeMs: 10_000, tokens: 100 });
  meter.charge({ usage: usage(30, 20), dollars: 0.25, answered: true }, heldCall);
  const estimated = { inputTokens: 10, outputTokens: 45, dollars: 0.5 };
  meter.charge({ usage: null, dollars: null, answered: true, estimated }, heldCall);
  assert.match(meter.over()!.detail, /^105 of 100 tokens, of which 1 calls by upper estimate$/u);
  const { inputTokens, outputTokens, dollars, uncounted, ...spent } = meter.spending();
  assert.deepEqual(
    { inputTokens, outputTokens, dollars, uncounted },
    { inputTokens: 30, outputTokens: 20, dollars: null, uncounted: 1 },
  );
  assert.deepEqual(spent.estimated, { calls: 1, answers: 1, ...estimated });
});

test("a killed supervisor leaves its spending on disk, up to the last call", (t) => {
  const { meter, time, file } = meterOf(t, { timeMs: 10_000 });
  meter.charge({ usage: usage(30, 20), dollars: 0.25, answered: true }, heldCall);
  time.now = 700;
  meter.charge({ usage: usage(1, 1), dollars: 0.5, answered: true }, heldCall);
  appendFileSync(file, '{"formatVersion":1,"calls":9'); // killed in the middle of a line
  const { calls, dollars, inputTokens, workingMs } = lastSpending(file)!;
  assert.deepEqual(
    { calls, dollars, inputTokens, workingMs },
    { calls: 2, dollars: 0.75, inputTokens: 31, workingMs: 700 },
  );
  assert.equal(lastSpending(`${file}.none`), undefined);
});

test("each try of a call is on disk once: in flight or charged, never both", (t) => {
  const { meter, file } = meterOf(t, { timeMs: 10_000 });
  const onDisk = () => {
    const { calls, failedTries, inFlight, dollars } = lastSpending(file)!;
    return [calls, failedTries, inFlight?.calls ?? 0, dollars! + (inFlight?.dollars ?? 0)];
  };
  const held = meter.hold({ tokens: 10, dollars: 2 })!;
  assert.deepEqual(onDisk(), [0, 0, 1, 2]);
  meter.charge({ usage: usage(1, 1), dollars: 0.5, answered: false }, held);
  assert.deepEqual(onDisk(), [0, 1, 0, 0.5], "nothing is in flight while it waits");
  held.again();
  assert.deepEqual(onDisk(), [0, 1, 1, 2.5]);
  meter.charge({ usage: usage(1, 1), dollars: 1, answered: true }, held);
  held.release();
  assert.deepEqual(onDisk(), [1, 1, 0, 1.5]);
  meter.hold({ tokens: 10, dollars: 2 })!.release();
  assert.deepEqual(onDisk(), [1, 1, 0, 1.5], "a call that was not sent is no longer in flight");
});

test("a call is sent again only if the calls in flight leave something of the limit, however many wait", (t) => {
  const { meter } = meterOf(t, { timeMs: 10_000, dollars: 10 });
  const [one, two] = [1, 2].map(() => meter.hold({ tokens: 1, dollars: 4 })!) as [HeldCall, HeldCall];
  const failed = (held: HeldCall) => meter.charge({ usage: usage(1, 1), dollars: 4, answered: false }, held);
  failed(one);
  assert.equal(one.again(), true, "4 are spent and 4 in flight");
  failed(one);
  assert.equal(one.again(), false, "8 are spent and 4 in flight");
  meter.charge({ usage: usage(1, 1), dollars: 1, answered: false }, two);
  assert.equal(one.again(), true, "both wait: one of them goes on");
  assert.equal(two.again(), false);
});

test("the models that answered are on disk with their calls, a missing fingerprint apart, and at most twenty", (t) => {
  const { meter, file } = meterOf(t, { timeMs: 1e6 });
  const answer = (answeredBy: string | null, fingerprint?: string) => {
    const served = {
      provider: "p",
      model: "m",
      answeredBy,
      ...(fingerprint !== undefined && { fingerprint }),
    };
    meter.charge({ usage: usage(1, 1), dollars: 0, answered: true, served }, heldCall);
  };
  answer("m-1", "fp_1");
  answer("m-1", "fp_1");
  answer("m-1");
  answer(null);
  meter.charge({ usage: null, dollars: null, answered: false }, heldCall);
  assert.deepEqual(lastSpending(file)!.served, [
    { provider: "p", model: "m", answeredBy: "m-1", fingerprint: "fp_1", calls: 2 },
    { provider: "p", model: "m", answeredBy: "m-1", calls: 1 },
    { provider: "p", model: "m", answeredBy: null, calls: 1 },
  ]);
  for (let number = 0; number < 100; number++) answer(`${number}${"x".repeat(1000)}`);
  const { served = [] } = meter.spending();
  assert.equal(served.length, 20);
  assert.equal(served.at(-1)!.answeredBy!.length, 200);
});

test("after a restart the meter continues, and a call that was in flight counts by its upper estimate", (t) => {
  const { meter, file, time } = meterOf(t, { timeMs: 60_000, tokens: 1000 });
  time.now = 5000;
  const first = meter.hold({ tokens: 100, dollars: 0.5 })!;
  meter.charge({ usage: usage(30, 20), dollars: 0.25, answered: true }, first);
  first.release();
  meter.hold({ tokens: 700, dollars: 2 });
  const before = lastSpending(file)!;
  assert.deepEqual(before.inFlight, { calls: 1, tokens: 700, dollars: 2 });
  const sandbox = { freeze: async () => true, thaw: async () => true };
  const clock = new AttemptClock({ sandbox, startedWall: 0, sinceStart: () => 6000, frozenMs: 1000 });
  const added: number[] = [];
  const cap = {
    leftDollars: () => 10,
    freeDollars: () => 10,
    maxDollars: () => 10,
    hold: () => {},
    add: (dollars: number) => void added.push(dollars),
  };
  const limits = { timeMs: 60_000, tokens: 1000 };
  const again = new AttemptMeter({ limits, clock, file, cap, before });
  t.after(() => again.close());
  const { calls, failedTries, uncounted, dollars, estimated, inputTokens } = again.spending();
  assert.deepEqual([calls, failedTries, uncounted, dollars, inputTokens], [1, 1, 1, 0.25, 30]);
  assert.deepEqual([estimated.calls, estimated.inputTokens, estimated.dollars], [1, 700, 2]);
  assert.deepEqual(added, [2], "the cap of the run that continues it counts the call too");
  assert.equal(again.usedShare(), 0.75);
  assert.equal(again.leftMs(), 55_000);
  const kept = lastSpending(file)!;
  assert.deepEqual(
    [kept.inFlight, kept.counted, kept.workingMs],
    [undefined, { tokens: 750, dollars: 2.25 }, 5000],
  );
});

test("a suspended job is a wait that moves the deadline, and the wait is on disk", async (t) => {
  let stoppedMs = 0;
  const take = () => {
    const taken = stoppedMs;
    stoppedMs = 0;
    return taken;
  };
  const { meter, time, file, waits, moves } = meterOf(t, { timeMs: 3000 }, { stopped: { take, close() {} } });
  time.now = 61_000;
  stoppedMs = 60_000;
  assert.equal(meter.leftMs(), 2000, "also before the beat");
  meter.beat(15_000);
  await setImmediate();
  assert.equal(meter.over(), undefined);
  assert.deepEqual(waits, [{ why: "suspended", durationMs: 60_000, frozenMs: 60_000, deadline: 1_063_000 }]);
  assert.deepEqual(moves, [1_063_000]);
  assert.deepEqual(lastSpending(file)?.waitedMs, { suspended: 60_000 });
});

test("a purse counts working hours at their price: calls shorten the time that is left, and dollars end it", (t) => {
  const hour = 3_600_000;
  const purse = { timeMs: 4 * hour, dollars: 10, machineDollarsPerHour: 5 };
  const { meter, time, moves } = meterOf(t, purse);
  assert.equal(meter.leftMs(), 2 * hour, "the machines alone use it up before the time ends");
  time.now = hour;
  assert.equal(meter.usedShare(), 0.5);
  meter.charge({ usage: usage(1, 1), dollars: 2.5, answered: true }, heldCall);
  assert.equal(meter.leftMs(), hour / 2);
  meter.beat(hour);
  assert.deepEqual(moves, [1_000_000 + 1.5 * hour], "programs are told of the earlier deadline");
  assert.equal(meter.over(), undefined);
  time.now = 1.5 * hour;
  assert.deepEqual([meter.leftMs(), meter.over()?.limit], [0, "dollars"]);
  assert.equal(meter.spending().dollars, 2.5, "dollars of calls are apart");
});

test("without a price of machines, dollars are of calls alone and time ends an attempt", (t) => {
  const { meter, time } = meterOf(t, { timeMs: 1000, dollars: 1 });
  time.now = 1000;
  assert.deepEqual([meter.leftMs(), meter.usedShare(), meter.over()?.limit], [0, 1, "time"]);
});
