import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import { AttemptMeter } from "../attempt/attempt-meter.ts";
import type { HeldCall } from "../attempt/meter.ts";
import { testClock } from "../testing/test-clock.ts";
import { boundUsage, callBound, callCharge, noUsage, soundUsage, tokensAbsurd } from "./call-charge.ts";
import { costOf } from "./prices.ts";

const price = { input: 2, cacheWrite: 2.5, output: 10 } as Parameters<typeof costOf>[1];
const priced = (usage: ModelUsage) => costOf(usage, price);
const usage = (inputTokens: number, outputTokens: number, more: Partial<ModelUsage> = {}): ModelUsage => ({
  ...{ inputTokens, outputTokens, cachedInputTokens: null, reasoningTokens: null },
  ...more,
});

const unsound = [
  ...[usage(-1, 5), usage(5, -1), usage(0, 0), usage(0, 7), usage(1.5, 2), usage(3, Number.NaN)],
  ...[usage(1e15, 1), usage(1, tokensAbsurd + 1), usage(Number.POSITIVE_INFINITY, 1)],
  usage("12" as unknown as number, 3),
];

test("an implausible usage is null, and so is a part larger than its whole", () => {
  for (const one of unsound) assert.equal(soundUsage(one), null, JSON.stringify(one));
  assert.deepEqual(soundUsage(usage(5, 0)), usage(5, 0));
  assert.deepEqual(
    soundUsage(usage(5, 2, { cachedInputTokens: 6, reasoningTokens: 3, cacheWrittenTokens: -1 })),
    usage(5, 2),
  );
});

test("a call is bounded by a token for two bytes of its request, and its limit of output", () => {
  assert.deepEqual(callBound({ requestBytes: 1001, outputTokensMax: 4096 }), {
    inputTokens: 501,
    outputTokens: 4096,
  });
  assert.equal(callBound({ requestBytes: 1, outputTokensMax: 10, answers: 4 }).outputTokens, 40);
  for (const said of [undefined, 0, -5, 1.5, Number.NaN])
    assert.equal(callBound({ requestBytes: 1, outputTokensMax: said }).outputTokens, 32_000);
});

const bound = { inputTokens: 100, outputTokens: 50 };

test("an answer without plausible usage counts its bound at the dearest rate", () => {
  const estimated = { ...bound, dollars: (100 * 2.5 + 50 * 10) / 1e6 };
  for (const reported of [null, ...unsound])
    assert.deepEqual(callCharge({ usage: reported, answered: true, tokens: "maybe" }, bound, priced), {
      ...{ usage: null, dollars: null, answered: true },
      estimated,
    });
});

test("a broken answer is counted up to its break, and estimated to its end", () => {
  const charge = callCharge({ usage: usage(80, 5), answered: false, tokens: "maybe" }, bound, priced);
  assert.deepEqual(
    [charge.usage, charge.estimated?.inputTokens, charge.estimated?.outputTokens],
    [usage(80, 5), 0, 45],
  );
  const dollars = priced(boundUsage({ inputTokens: 80, outputTokens: 50 }))! - charge.dollars!;
  assert.equal(charge.estimated?.dollars, dollars);
});

test("a rejected call costs nothing, and unknown usage is free only for a free model", () => {
  assert.deepEqual(callCharge({ usage: null, answered: false, tokens: "none" }, bound, priced), {
    ...{ usage: noUsage, dollars: 0, answered: false },
  });
  const maybe = { usage: null, answered: true, tokens: "maybe" } as const;
  assert.equal(callCharge(maybe, bound, () => null).estimated?.dollars, null);
  const free = callCharge(maybe, bound, () => 0);
  assert.deepEqual([free.usage, free.dollars, free.estimated?.dollars], [null, 0, 0]);
});

/** Deterministic chance: mulberry32. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let next = Math.imul(state ^ (state >>> 15), 1 | state);
    next = (next + Math.imul(next ^ (next >>> 7), 61 | next)) ^ next;
    return ((next ^ (next >>> 14)) >>> 0) / 2 ** 32;
  };
}

test("no order of calls and reports lets an attempt pass its limits by more than one call", () => {
  const [dollars, tokens] = [0.01, 40_000];
  for (let seed = 0; seed < 400; seed++) {
    const random = chance(seed);
    const limit = seed % 2 === 0 ? { dollars } : { tokens };
    const meter = new AttemptMeter({ limits: { timeMs: 1e9, ...limit }, clock: testClock() });
    const truly = { dollars: 0, tokens: 0 };
    let largest = { dollars: 0, tokens: 0 };
    type Open = { bound: typeof bound; held: HeldCall };
    const open: Open[] = [];
    const end = ({ bound, held }: Open) => {
      const took = usage(
        1 + Math.floor(random() * bound.inputTokens),
        Math.floor(random() * (bound.outputTokens + 1)),
      );
      const kind = random();
      const reported =
        kind < 0.5 ? took : kind < 0.7 ? null : unsound[Math.floor(random() * unsound.length)]!;
      // an answer that is cut may report less than it took, never more
      const cut = random() < 0.2;
      const counted =
        cut && kind < 0.5 ? usage(took.inputTokens, Math.floor(took.outputTokens / 2)) : reported;
      const spent = { dollars: priced(took)!, tokens: took.inputTokens + took.outputTokens };
      truly.dollars += spent.dollars;
      truly.tokens += spent.tokens;
      largest = {
        dollars: Math.max(largest.dollars, spent.dollars),
        tokens: Math.max(largest.tokens, spent.tokens),
      };
      meter.charge(callCharge({ usage: counted, answered: !cut, tokens: "maybe" }, bound, priced), held);
      held.release();
    };
    for (let step = 0; step < 500 && (meter.over() === undefined || open.length > 0); step++) {
      if (open.length > 0 && (meter.over() !== undefined || random() < 0.4)) {
        end(open.splice(Math.floor(random() * open.length), 1)[0]!);
        continue;
      }
      const asked = callBound({
        requestBytes: 2 + random() * 8000,
        outputTokensMax: 1 + Math.floor(random() * 400),
      });
      const held = meter.hold({
        tokens: asked.inputTokens + asked.outputTokens,
        dollars: priced(boundUsage(asked)),
      });
      if (held) open.push({ bound: asked, held });
    }
    for (const one of open) end(one);
    const [name, most] = "dollars" in limit ? (["dollars", dollars] as const) : (["tokens", tokens] as const);
    assert.ok(truly[name] <= most + largest[name], `seed ${seed}: ${truly[name]} ${name} of ${most}`);
    assert.ok(meter.over(), `seed ${seed}: it was never over`);
  }
});
