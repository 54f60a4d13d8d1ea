import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { seededRandom } from "@mlrb/core/statistics/random";
import { readPurse, writeCap, writePurse } from "@mlrb/kit/attempts/purse";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { AttemptMeter } from "../attempt/attempt-meter.ts";
import type { HeldCall } from "../attempt/meter.ts";
import { heldCall } from "../testing/held-call.ts";
import { testClock } from "../testing/test-clock.ts";
import { attemptPurse } from "./attempt-purse.ts";
import { CapFile, type SpendingCap } from "./spending-cap.ts";

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "cap-"));
  t.after(() => removeFolder(made));
  return made;
}

const meterOf = (cap: SpendingCap) => new AttemptMeter({ limits: { timeMs: 1e9 }, clock: testClock(), cap });
const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: null, reasoningTokens: null };

test("attempts of one run share its cap, each passes it by one call at most, and a raised cap lets them continue", (t) => {
  const path = join(folder(t), "cap.jsonl");
  writeCap(path, 1);
  const meters = ["a", "b", "c"].map((name) => meterOf(new CapFile(path, name)));
  let spent = 0;
  const call = (meter: (typeof meters)[number], dollars: number) => {
    if (meter.overCap(1) !== undefined) return false;
    meter.charge({ usage, dollars, answered: true }, heldCall);
    spent += dollars;
    return true;
  };
  for (let turn = 0; turn < 30; turn++) call(meters[turn % 3]!, 0.07);
  assert.ok(spent >= 1 && spent < 1.07 + 1e-9, String(spent));
  assert.match(meters[0]!.overCap(1)!, /spent the 1 dollars of its --max-cost/u);
  assert.equal(meters[0]!.over(), undefined, "the cap is the operator's limit, not the agent's");
  writeCap(path, 2);
  assert.ok(call(meters[2]!, 0.07));
});

test("upper estimates count against the cap, and half a line of a killed supervisor does not", (t) => {
  const path = join(folder(t), "cap.jsonl");
  writeCap(path, 1);
  const cap = new CapFile(path, "a");
  const meter = meterOf(cap);
  const estimated = { inputTokens: 10, outputTokens: 10, dollars: 0.5 };
  meter.charge({ usage: null, dollars: null, answered: true, estimated }, heldCall);
  assert.equal(cap.leftDollars(), 0.5);
  appendFileSync(path, '{"dollars":0.4');
  assert.equal(new CapFile(path, "b").leftDollars(), 0.5);
  appendFileSync(path, "\n");
  const reread = new CapFile(path, "b");
  assert.equal(reread.leftDollars(), 0.5);
});

test("two calls at once are admitted only where the cheaper fits into what the cap leaves", (t) => {
  const path = join(folder(t), "cap.jsonl");
  writeCap(path, 1);
  const meter = meterOf(new CapFile(path, "a"));
  const held = meter.hold({ tokens: 1, dollars: 5 });
  assert.ok(held, "a single call begins, whatever it may cost");
  assert.equal(meter.hold({ tokens: 1, dollars: 1 }), undefined);
  assert.ok(meter.hold({ tokens: 1, dollars: 0 }), "free calls never wait");
  assert.ok(meter.hold({ tokens: 1, dollars: 0.9 }));
  held.release();
  assert.ok(meter.hold({ tokens: 1, dollars: 0.9 }));
});

test("calls in flight of a killed supervisor count once after the restart of its attempt", (t) => {
  const path = join(folder(t), "cap.jsonl");
  writeCap(path, 1);
  const gone = spawnSync(process.execPath, ["-e", ""]).pid;
  appendFileSync(path, `${JSON.stringify({ attempt: "a", held: 0.2, pid: gone })}\n`);
  const cap = new CapFile(path, "a");
  assert.equal(cap.leftDollars(), 0.8);
  const inFlight = { calls: 3, tokens: 3, dollars: 0.3 };
  const none = { calls: 0, failedTries: 0, uncounted: 0, inputTokens: 0, outputTokens: 0, dollars: 0 };
  const before = {
    formatVersion: 1 as const,
    workingMs: 0,
    ...none,
    cachedInputTokens: 0,
    reasoningTokens: 0,
  };
  new AttemptMeter({
    ...{ limits: { timeMs: 1e9 }, clock: testClock(), cap },
    before: { ...before, waitedMs: {}, inFlight },
  });
  assert.equal(cap.leftDollars(), 0.7);
  assert.equal(new CapFile(path, "b").leftDollars(), 0.7);
});

test("calls in flight of a killed attempt count as spent, and other calls do not wait for them", (t) => {
  const path = join(folder(t), "cap.jsonl");
  writeCap(path, 1);
  const gone = spawnSync(process.execPath, ["-e", ""]).pid;
  appendFileSync(path, `${JSON.stringify({ attempt: "b", held: 1, pid: gone })}\n`);
  const meter = meterOf(new CapFile(path, "a"));
  assert.ok(meter.hold({ tokens: 1, dollars: 0.1 }));
  assert.match(meter.overCap(0.1)!, /spent the 1 dollars/u);
});

test("a cap that cannot be read lets nothing be spent", (t) => {
  assert.throws(() => new CapFile(join(folder(t), "none"), "a").leftDollars(), /ENOENT/u);
});

test("a purse is read, a missing one is allowed, and one of another format is refused", (t) => {
  const path = join(folder(t), "purse.json");
  assert.equal(readPurse(path), undefined);
  const runs = [{ run: "r", prices: ["m=1/2"] }];
  writePurse(path, { runs, cap: null });
  assert.deepEqual(readPurse(path), { runs, cap: null });
  for (const text of [
    '{"formatVersion":0,"prices":["m=1/2"],"cap":null}',
    '{"formatVersion":9,"runs":[],"cap":null}',
    '{"formatVersion":1,"runs":[{"run":"r","prices":"m"}],"cap":null}',
    '{"formatVersion":1,"runs":[]}',
  ]) {
    writeFileSync(path, text);
    assert.throws(() => readPurse(path), /another format/u);
  }
});

test("attempts racing with many calls pass the cap by one call each at most", async (t) => {
  const { fraction: chance } = seededRandom(7);
  for (let round = 0; round < 40; round++) {
    const path = join(folder(t), "cap.jsonl");
    writeCap(path, 1);
    const attempts = ["a", "b", "c"].map((name) => ({
      meter: meterOf(new CapFile(path, name)),
      flying: [] as { held: HeldCall; dollars: number }[],
    }));
    let spent = 0;
    const dearest = 0.1 + chance() / 2;
    for (let turn = 0; turn < 200; turn++) {
      const { meter, flying } = attempts[Math.floor(chance() * 3)]!;
      const dollars = dearest * (1 - chance() / 2);
      if (chance() < 0.7) {
        const held = meter.overCap(dollars) === undefined ? meter.hold({ tokens: 1, dollars }) : undefined;
        if (held) flying.push({ held, dollars });
      } else {
        const [done] = flying.splice(Math.floor(chance() * flying.length), 1);
        if (!done) continue;
        const dollars = done.dollars * chance();
        meter.charge({ usage, dollars, answered: true }, done.held);
        done.held.release();
        spent += dollars;
      }
    }
    for (const { flying } of attempts) for (const { dollars } of flying) spent += dollars;
    assert.ok(spent < 1 + 3 * dearest, `round ${round}: ${spent} dollars, calls of ${dearest}`);
  }
});

test("an attempt continued by a run with a cap counts against that cap from then on", (t) => {
  const path = join(folder(t), "purse.json");
  writePurse(path, { runs: [{ run: "first", prices: [] }], cap: null });
  const purse = attemptPurse(path, "a")!;
  const carriers: object[] = [];
  purse.onCarried((by) => carriers.push(by));
  const meter = meterOf(purse.cap);
  meter.charge({ usage, dollars: 50, answered: true }, heldCall);
  assert.equal(meter.overCap(1), undefined);
  const held = meter.hold({ tokens: 1, dollars: 0.75 })!;
  meter.hold({ tokens: 1, dollars: 0.5 });

  const cap = join(folder(t), "second.jsonl");
  writeCap(cap, 1);
  writePurse(path, { runs: [{ run: "second", prices: [] }, ...readPurse(path)!.runs], cap });
  assert.equal(meter.overCap(1), undefined);
  assert.equal(new CapFile(cap, "b").freeDollars(), 0.5, "the other attempts see its calls in flight");
  held.release();
  meter.charge({ usage, dollars: 1.1, answered: true }, heldCall);
  assert.match(meter.overCap(1)!, /spent the 1 dollars/u);
  assert.equal(meter.overCap(0), undefined, "free calls continue");
  assert.deepEqual(carriers, [
    { run: "first", maxDollars: null },
    { run: "second", maxDollars: 1 },
  ]);
});

test("an attempt that moves to another cap no longer counts against the first", (t) => {
  const [high, low] = [join(folder(t), "high.jsonl"), join(folder(t), "low.jsonl")];
  writeCap(high, 10);
  writeCap(low, 0.5);
  const path = join(folder(t), "purse.json");
  writePurse(path, { runs: [{ run: "first", prices: [] }], cap: high });
  const { cap } = attemptPurse(path, "a")!;
  const meter = meterOf(cap);
  const other = new CapFile(high, "b");
  meter.charge({ usage, dollars: 4, answered: true }, heldCall);
  meter.hold({ tokens: 1, dollars: 3 });
  meter.hold({ tokens: 1, dollars: 4 });
  assert.deepEqual([other.leftDollars(), other.freeDollars()], [6, 3]);
  writePurse(path, { runs: [{ run: "second", prices: [] }, ...readPurse(path)!.runs], cap: low });
  assert.equal(meter.overCap(1), undefined);
  assert.deepEqual([other.leftDollars(), other.freeDollars()], [6, 6]);
  meter.charge({ usage, dollars: 3, answered: true }, heldCall);
  assert.equal(other.leftDollars(), 6);
  assert.ok(meter.overCap(1));
});

test("under a cap, calls of unknown price are not sent, and a cap of 0 allows only free calls", (t) => {
  const path = join(folder(t), "cap.jsonl");
  writeCap(path, 1);
  const meter = meterOf(new CapFile(path, "a"));
  assert.match(meter.overCap(null)!, /price is unknown/u);
  writeCap(path, 0);
  assert.ok(meter.overCap(0.001));
  assert.equal(meter.overCap(0), undefined);
});

test("a run that continues an attempt brings its prices, and the ledger keeps those of both runs", (t) => {
  const path = join(folder(t), "purse.json");
  writePurse(path, { runs: [{ run: "first", prices: ["m=1/2", "n-*=1/1"] }], cap: null });
  const { prices } = attemptPurse(path, "a")!;
  const million = { ...usage, inputTokens: 1e6, outputTokens: 0 };
  assert.equal(prices.dollarsOf(million, "p", "m"), 1);
  assert.equal(prices.dollarsOf(million, "p", "other"), null);
  writePurse(path, {
    runs: [{ run: "second", prices: ["m=10/20", "other=5/5"] }, ...readPurse(path)!.runs],
    cap: null,
  });
  assert.equal(prices.dollarsOf(million, "p", "m"), 10);
  assert.equal(prices.dollarsOf(million, "p", "other"), 5);
  assert.equal(prices.dollarsOf(million, "p", "n-7"), 1);
  assert.equal(prices.dollarsOf(million, "openai", "gpt-4o-2024-08-06"), 2.5);
  const first = { provider: "p", source: "--price of run first" };
  const second = { provider: "p", source: "--price of run second" };
  const [table, ...said] = prices.used().toSorted((a, b) => (a.provider < b.provider ? -1 : 1));
  assert.deepEqual(said, [
    { ...first, model: "m", input: 1, output: 2 },
    { ...second, model: "m", input: 10, output: 20 },
    { ...second, model: "other", input: 5, output: 5 },
    { ...first, model: "n-7", input: 1, output: 1 },
  ]);
  assert.deepEqual([table!.input, table!.asOf, table!.source.slice(0, 8)], [2.5, "2024-11-20", "https://"]);
});

test("a call that cannot be added to the cap, on a full disk, is on the attempt's own bill", () => {
  const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });
  const cap = {
    leftDollars: () => 1,
    freeDollars: () => 1,
    maxDollars: () => 1,
    hold: () => {},
    add() {
      throw full;
    },
  };
  const meter = meterOf(cap);
  assert.throws(() => meter.charge({ usage, dollars: 0.25, answered: true }, heldCall), full);
  assert.equal(meter.spending().dollars, 0.25);
});
