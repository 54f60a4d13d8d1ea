import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readPurse, writeCap } from "@mlrb/kit/purse";
import { removeFolder } from "@mlrb/kit/remove-folder";
import { attemptMeter } from "./attempt-meter.ts";
import { openCap } from "./spending-cap.ts";

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "cap-"));
  t.after(() => removeFolder(made));
  return made;
}

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: null, reasoningTokens: null };

test("attempts of one run share its cap, which each passes by one call at most, and raising it lets them go on", (t) => {
  const path = join(folder(t), "cap.jsonl");
  writeCap(path, 1);
  const meters = [1, 2, 3].map(() =>
    attemptMeter({ limits: { timeMs: 1e9 }, startedWall: 0, sinceStart: () => 0, cap: openCap(path) }),
  );
  let spent = 0;
  const call = (meter: (typeof meters)[number], dollars: number) => {
    if (meter.overCap() !== undefined) return false;
    meter.charge({ usage, dollars, answered: true });
    spent += dollars;
    return true;
  };
  for (let turn = 0; turn < 30; turn++) call(meters[turn % 3]!, 0.07);
  assert.ok(spent >= 1 && spent < 1.07 + 1e-9, String(spent));
  assert.match(meters[0]!.overCap()!, /spent the 1 dollars of its --max-cost/u);
  assert.equal(meters[0]!.over(), undefined, "it is the operator's limit, not the agent's");
  writeCap(path, 2);
  assert.ok(call(meters[2]!, 0.07));
});

test("what a call can have cost at most counts too, and half a line of a killed supervisor does not", (t) => {
  const path = join(folder(t), "cap.jsonl");
  writeCap(path, 1);
  const cap = openCap(path);
  const meter = attemptMeter({ limits: { timeMs: 1e9 }, startedWall: 0, sinceStart: () => 0, cap });
  const estimated = { inputTokens: 10, outputTokens: 10, dollars: 0.5 };
  meter.charge({ usage: null, dollars: null, answered: true, estimated });
  assert.equal(cap.leftDollars(), 0.5);
  appendFileSync(path, '{"dollars":0.4');
  assert.equal(openCap(path).leftDollars(), 0.5);
  appendFileSync(path, "\n");
  const reread = openCap(path);
  assert.equal(reread.leftDollars(), 0.5);
});

test("two calls at once are admitted only where both fit into what the cap leaves", (t) => {
  const path = join(folder(t), "cap.jsonl");
  writeCap(path, 1);
  const meter = attemptMeter({
    limits: { timeMs: 1e9 },
    startedWall: 0,
    sinceStart: () => 0,
    cap: openCap(path),
  });
  const release = meter.hold({ tokens: 1, dollars: 5 });
  assert.ok(release, "alone it begins, whatever it may take");
  assert.equal(meter.hold({ tokens: 1, dollars: 0.1 }), undefined);
  release();
  assert.ok(meter.hold({ tokens: 1, dollars: 0.1 }));
});

test("a cap that cannot be read lets nothing be spent", (t) => {
  assert.throws(() => openCap(join(folder(t), "none")).leftDollars(), /ENOENT/u);
});

test("a purse is read whole or refused, and there need be none", (t) => {
  const path = join(folder(t), "purse.json");
  assert.equal(readPurse(path), undefined);
  writeFileSync(path, '{"formatVersion":1,"prices":["m=1/2"],"cap":null}');
  assert.deepEqual(readPurse(path), { formatVersion: 1, prices: ["m=1/2"], cap: null });
  for (const text of [
    '{"formatVersion":2,"prices":[],"cap":null}',
    '{"formatVersion":1,"prices":"m","cap":null}',
  ]) {
    writeFileSync(path, text);
    assert.throws(() => readPurse(path), /another format/u);
  }
});

test("a call that cannot be told to the cap, on a full disk, is on the attempt's own bill all the same", () => {
  const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });
  const cap = {
    leftDollars: () => 1,
    maxDollars: () => 1,
    add() {
      throw full;
    },
  };
  const meter = attemptMeter({ limits: { timeMs: 1e9 }, startedWall: 0, sinceStart: () => 0, cap });
  assert.throws(() => meter.charge({ usage, dollars: 0.25, answered: true }), full);
  assert.equal(meter.spending().dollars, 0.25);
});
