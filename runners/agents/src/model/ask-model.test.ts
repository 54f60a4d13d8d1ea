import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { ModelCallEvent, ModelTryEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { callsOf, lastSpending } from "@mlrb/kit/attempts/last-spending";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { AttemptMeter } from "../attempt/attempt-meter.ts";
import type { Meter, OverBudget } from "../attempt/meter.ts";
import { heldCall } from "../testing/held-call.ts";
import { testClock } from "../testing/test-clock.ts";
import { type AskOptions, askModel } from "./ask-model.ts";
import { failureOf } from "./cause-of.ts";
import { costlyTriesMax } from "./failure-causes.ts";
import type { Message, ModelFailure, ModelResponse, ModelResult } from "./model-client.ts";
import { ProviderTrouble } from "./provider-trouble.ts";

type Step = ModelResult & { tookMs?: number };

const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: null, reasoningTokens: null };
const messages: Message[] = [{ role: "user", text: "Begin." }];

const answer = (some: Partial<ModelResponse> = {}): Step => ({
  kind: "answered",
  response: {
    text: "ok",
    reasoning: null,
    toolCalls: [],
    finish: "stop",
    usage,
    answeredBy: null,
    ...some,
  },
});

const failing = (cause: ModelCause, some: Partial<ModelFailure> & { tookMs?: number } = {}): Step => {
  const { tookMs, ...more } = some;
  const failure = { ...failureOf(cause, { detail: `it was ${cause}` }), ...more };
  return { kind: "failed", failure, ...(tookMs !== undefined && { tookMs }) };
};

/** Everything that happens to a call, in order; the clock moves only for tries and pauses. */
function lab(
  steps: Step[],
  options: AskOptions & {
    over?: () => OverBudget | undefined;
    overCap?: () => string | undefined;
    price?: number | null;
    /** How long each pause for a person lasts; without it no person is awaited. */
    person?: (askedMs: number) => number;
    paused?: () => boolean;
  } = {},
) {
  let clock = 0;
  const log: string[] = [];
  const events: TrajectoryEvent[] = [];
  const charged: Parameters<Meter["charge"]>[0][] = [];
  const waited: Record<string, number> = {};
  const pauses: number[] = [];
  const shown = new Map<string, AttemptWait>();
  const count = (why: string, ms: number) => {
    waited[why] = (waited[why] ?? 0) + ms;
  };
  const meter: Meter = {
    leftMs: () => 1e9,
    deadline: () => 0,
    usedShare: () => 0,
    async waiting(why, wait) {
      const begin = clock;
      try {
        return await wait();
      } finally {
        count(why, clock - begin);
      }
    },
    waited: count,
    hold: () => heldCall,
    overCap: options.overCap ?? (() => undefined),
    charge(spent) {
      log.push("charge");
      charged.push(spent);
    },
    over: options.over ?? (() => undefined),
    spending: () => assert.fail("not used"),
  };
  const control = new AbortController();
  const ask = askModel({
    client: {
      provider: "openai",
      model: "m",
      async call() {
        const step = steps.shift() ?? assert.fail("asked once too often");
        clock += step.tookMs ?? 0;
        return step;
      },
    },
    meter,
    dollarsOf: ({ inputTokens, outputTokens }) =>
      options.price === null ? null : (inputTokens + outputTokens) * (options.price ?? 0.001),
    digest: ({ messages: some, tools }) => `digest of ${some.length} messages and ${tools.length} tools`,
    write(event) {
      log.push(event.event);
      events.push(event);
    },
    signal: control.signal,
    board: {
      show: (id, wait) => void shown.set(id, wait),
      clear: (id) => void (shown.delete(id) && log.push("cleared")),
    },
    ...(options.person && {
      desk: {
        async pause(ms: number) {
          pauses.push(ms);
          clock += options.person!(ms);
        },
        paused: () => options.paused?.() ?? false,
        close: async () => {},
      },
    }),
    options: {
      random: () => 0,
      now: () => clock,
      async sleep(ms) {
        pauses.push(ms);
        clock += ms;
      },
      ...options,
    },
  });
  const of = <T extends TrajectoryEvent>(name: T["event"]) =>
    events.filter((one): one is T => one.event === name);
  return {
    ask: () => ask("agent", messages, []),
    control,
    log,
    charged,
    waited,
    pauses,
    shown,
    calls: () => of<ModelCallEvent>("model-call"),
    tries: () => of<ModelTryEvent>("model-try"),
  };
}

test("a paused attempt asks nothing until it is continued, also before its first answer, and the time is not its own", async () => {
  let looks = 0;
  const { ask, log, shown, waited, tries } = lab([answer({})], {
    paused: () => ++looks < 4,
    person: (ms) => ms,
  });
  assert.equal((await ask()).kind, "answered");
  assert.deepEqual(waited, { operator: 10_000 });
  assert.deepEqual(log, ["cleared", "charge", "model-call"]);
  assert.deepEqual([shown.size, tries().length], [0, 0]);
});

for (const first of [true, false])
  test(`an attempt that is paused while ${first ? "its first" : "a later"} call waits for its provider sends no further try, and patience begins again afterwards`, async () => {
    const nearlyAnHour = Array.from({ length: 118 }, () => failing("overloaded"));
    let waits = 0;
    let looks = 0;
    const begin = first ? [] : [answer()];
    const { ask, tries, calls, waited, shown } = lab([...begin, ...nearlyAnHour, ...nearlyAnHour, answer()], {
      sleep: async () => void waits++,
      paused: () => waits === 118 && ++looks <= 1000,
      person: (ms) => ms,
    });
    for (const _ of [...begin, "the call that waits"]) assert.equal((await ask()).kind, "answered");
    assert.equal(calls().length, begin.length + 1);
    assert.equal(tries().length, 236);
    assert.ok(waited.operator! > 4_900_000, "longer than patience with the provider");
    assert.equal(shown.size, 0);
  });

test("an attempt that is paused during its provider's last try is not given up", async () => {
  let sent = 0;
  let looks = 0;
  const patience = { providerMs: 60_000, operatorMs: 60_000 };
  const long = () => failing("overloaded", { tookMs: 70_000 });
  const { ask, log } = lab([long(), answer()], {
    patience,
    paused: () => sent > 0 && ++looks < 4,
    over: () => void sent++,
    person: (ms) => ms,
  });
  assert.equal((await ask()).kind, "answered");
  assert.deepEqual(
    log.filter((one) => one.startsWith("model")),
    ["model-try", "model-call"],
  );
});

test("an answer is charged before it is written, and written with its digest and price", async () => {
  const { ask, log, calls, charged } = lab([
    answer({
      ...{ toolCalls: [{ id: "a", name: "shell", malformed: "{" }], raw: { x: 1 } },
      ...{ answeredBy: "m-2024", fingerprint: "fp_1" },
    }),
  ]);
  assert.equal((await ask()).kind, "answered");
  assert.deepEqual(log, ["charge", "model-call"]);
  const served = { provider: "openai", model: "m", answeredBy: "m-2024", fingerprint: "fp_1" };
  assert.deepEqual(charged, [{ usage, dollars: 0.11, answered: true, served }]);
  assert.deepEqual(calls()[0], {
    event: "model-call",
    call: 1,
    by: "agent",
    provider: "openai",
    model: "m",
    answeredBy: "m-2024",
    fingerprint: "fp_1",
    requestDigest: "digest of 1 messages and 0 tools",
    messages: 1,
    text: "ok",
    reasoning: null,
    toolCalls: [{ id: "a", name: "shell", input: "{", malformed: true }],
    finish: "stop",
    raw: '{"x":1}',
    usage,
    dollars: 0.11,
    durationMs: 0,
    tries: 1,
  });
});

test("a series of 429 is waited out as asked, outside working time, and each try is recorded", async () => {
  const storm = [1500, 20_000, 61_000].map((retryAfterMs) =>
    failing("rate-limit", { retryAfterMs, tookMs: 100 }),
  );
  const { ask, pauses, waited, tries, calls, charged } = lab([...storm, { ...answer(), tookMs: 7000 }]);
  await ask();
  assert.deepEqual(pauses, [1500, 20_000, 61_000]);
  assert.deepEqual(waited, { "rate-limit": 82_500 + 300 });
  assert.deepEqual(
    tries().map((one) => [one.call, one.try, one.cause, one.waitMs]),
    [
      [1, 1, "rate-limit", 1500],
      [1, 2, "rate-limit", 20_000],
      [1, 3, "rate-limit", 61_000],
    ],
  );
  assert.deepEqual([calls()[0]!.tries, calls()[0]!.durationMs], [4, 7000]);
  const zero = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  assert.deepEqual(charged.slice(0, 3), Array(3).fill({ usage: zero, dollars: 0, answered: false }));
});

test("without retry-after each pause is twice the one before, up to a minute", async () => {
  const { ask, pauses } = lab([...Array.from({ length: 9 }, () => failing("overloaded")), answer()]);
  await ask();
  assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test("two attempts that fail together do not retry together", async () => {
  const pausesOf = async (chance: number) => {
    const { ask, pauses } = lab(
      [failing("overloaded"), failing("rate-limit", { retryAfterMs: 1000 }), answer()],
      {
        random: () => chance,
      },
    );
    await ask();
    return pauses;
  };
  assert.deepEqual(await pausesOf(0), [500, 1000]);
  assert.deepEqual(await pausesOf(0.9), [950, 1090]);
});

test("a provider that stays away is given up after an hour, with what to do", async () => {
  const { ask, waited, tries } = lab(Array.from({ length: 500 }, () => failing("overloaded")));
  await assert.rejects(ask(), (error) => {
    assert.ok(error instanceof ProviderTrouble);
    assert.deepEqual([error.cause, error.whose], ["overloaded", "provider"]);
    assert.match(
      error.message,
      /openai m: overloaded: it was overloaded; tried \d+ times over (59|60) min.*run the pipeline again/su,
    );
    return true;
  });
  assert.ok(waited.provider! > 3_500_000 && waited.provider! <= 3_600_000, String(waited.provider));
  assert.equal(tries().at(-1)!.waitMs, null);
});

test("a wait longer than the patience is not begun", async () => {
  const { ask, pauses } = lab([failing("rate-limit", { retryAfterMs: 86_400_000 })]);
  await assert.rejects(ask(), ProviderTrouble);
  assert.deepEqual(pauses, []);
});

test("tries that may cost tokens are limited in number, and count as uncounted", async () => {
  const { ask, charged, tries } = lab(Array.from({ length: 50 }, () => failing("cut-stream")));
  await assert.rejects(ask(), ProviderTrouble);
  assert.equal(tries().length, costlyTriesMax);
  // the most that a request of 38 bytes may take without a limit of its output
  const estimated = { inputTokens: 19, outputTokens: 32_000, dollars: 32.019 };
  assert.deepEqual(charged[0], { usage: null, dollars: null, answered: false, estimated });
});

test("usage counted before a break is charged and recorded with the try", async () => {
  const { ask, charged, tries } = lab([failing("cut-stream", { usage }), answer()]);
  await ask();
  const estimated = { inputTokens: 0, outputTokens: 31_990, dollars: 32.1 - 0.11 };
  assert.deepEqual(charged[0], { usage, dollars: 0.11, answered: false, estimated });
  assert.deepEqual([tries()[0]!.usage, tries()[0]!.dollars], [usage, 0.11]);
});

for (const cause of ["wrong-key", "out-of-money", "unknown-model", "bad-request"] as const)
  test(`${cause} is not tried again`, async () => {
    const { ask, tries } = lab([failing(cause)]);
    await assert.rejects(ask(), (error) => {
      assert.ok(error instanceof ProviderTrouble);
      assert.equal(error.whose, cause === "bad-request" ? "harness" : "operator");
      assert.match(error.message, /nothing was measured; \S/u);
      return true;
    });
    assert.equal(tries().length, 1);
  });

test("a request that is too long goes back to be cut, and costs nothing", async () => {
  const { ask, charged, tries } = lab([failing("too-long")]);
  assert.deepEqual(await ask(), { kind: "too-long" });
  assert.equal(charged[0]!.dollars, 0);
  assert.equal(tries()[0]!.waitMs, null);
});

test("a filtered request is the agent's refusal, answered and charged once", async () => {
  const { ask, charged, calls, tries } = lab([failing("blocked-request")], { price: null });
  const asked = await ask();
  assert.ok(asked.kind === "answered" && asked.response.finish === "refusal");
  assert.match(asked.response.text, /it was blocked-request/u);
  assert.deepEqual(
    charged.map(({ dollars, answered }) => [dollars, answered]),
    [[0, true]],
  );
  assert.deepEqual([calls().length, tries().length], [1, 1]);
});

test("an answer that its server could not read is asked for once, and charged as an answer", async () => {
  const { ask, charged, calls, tries } = lab([failing("unusable-answer", { usage })]);
  const asked = await ask();
  assert.ok(asked.kind === "answered" && asked.response.finish === "other");
  assert.match(asked.response.text, /could not use this answer: it was unusable-answer/u);
  assert.deepEqual(
    charged.map((one) => [one.usage, one.dollars, one.answered]),
    [[usage, 0.11, true]],
  );
  assert.deepEqual([calls().length, tries().length], [1, 1]);
});

test("a used-up budget ends a call before it and between tries", async () => {
  let over: OverBudget | undefined = { limit: "tokens", detail: "all" };
  const { ask, calls, tries } = lab([failing("overloaded"), answer()], { over: () => over });
  assert.deepEqual(await ask(), { kind: "over" });
  assert.equal(tries().length, 0);
  over = undefined;
  const asked = ask();
  over = { limit: "time", detail: "all" };
  assert.deepEqual(await asked, { kind: "over" });
  assert.deepEqual([tries().length, calls().length], [1, 0]);
  assert.equal(tries()[0]!.call, 1);
});

test("an unknown price is unknown, and a free model stays free without counts", async () => {
  const unknown = lab([answer(), answer({ usage: null })], { price: null });
  await unknown.ask();
  await unknown.ask();
  assert.deepEqual(
    unknown.charged.map(({ dollars }) => dollars),
    [null, null],
  );
  const free = lab([answer(), answer({ usage: null })], { price: 0 });
  await free.ask();
  await free.ask();
  assert.deepEqual(
    free.charged.map(({ dollars }) => dollars),
    [0, 0],
  );
});

test("the end of an attempt ends the pause at once, with its own reason", async () => {
  const over = new Error("the attempt is over");
  const made = askModel({
    client: {
      provider: "p",
      model: "m",
      call: async () => failing("rate-limit", { retryAfterMs: 3_000_000 }),
    },
    meter: {
      waiting: (_: string, wait: () => Promise<unknown>) => wait(),
      hold: () => heldCall,
      charge() {},
      over() {},
      overCap() {},
    } as unknown as Meter,
    dollarsOf: () => 0,
    digest: () => "",
    write() {},
    signal: laterAborted(over),
  });
  await assert.rejects(made("agent", messages, []), over);
});

test("a call that the attempt's end stops is on the attempt's bill once", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ask-"));
  t.after(() => removeFolder(folder));
  const file = join(folder, "spending.jsonl");
  const meter = new AttemptMeter({ limits: { timeMs: 1e9 }, clock: testClock(), file });
  t.after(() => meter.close());
  const over = new Error("the attempt is over");
  const signal = laterAborted(over);
  const made = askModel({
    client: {
      provider: "p",
      model: "m",
      call: ({ signal }) => new Promise((_, no) => signal.addEventListener("abort", () => no(over))),
    },
    meter,
    dollarsOf: () => 0.25,
    digest: () => "",
    write() {},
    signal,
  });
  await assert.rejects(made("agent", messages, []), over);
  const written = readFileSync(file, "utf8").trimEnd().split("\n");
  assert.deepEqual(
    written.map((line) => callsOf(JSON.parse(line))),
    [0, 1, 1],
  );
  assert.equal(lastSpending(file)?.inFlight, undefined);
});

function laterAborted(reason: Error): AbortSignal {
  const control = new AbortController();
  setImmediate(() => control.abort(reason));
  return control.signal;
}

const hour = 3_600_000;

test("after a first answer, trouble of the operator is waited out in growing steps", async () => {
  const steps = [answer(), ...Array.from({ length: 9 }, () => failing("wrong-key")), answer()];
  const { ask, pauses, waited, tries, calls, shown, log } = lab(steps, { person: (ms) => ms });
  assert.equal((await ask()).kind, "answered");
  assert.equal((await ask()).kind, "answered");
  assert.deepEqual(
    pauses.map((ms) => ms / 60_000),
    [0.5, 1, 2, 4, 8, 16, 30, 30, 30],
  );
  assert.deepEqual(waited, { operator: pauses.reduce((sum, ms) => sum + ms, 0) });
  assert.deepEqual([...new Set(tries().map(({ waitMs }) => waitMs === null))], [false]);
  assert.deepEqual(
    calls().map(({ call, tries: made }) => [call, made]),
    [
      [1, 1],
      [2, 10],
    ],
  );
  assert.equal(shown.size, 0, "what is over is no longer shown");
  assert.equal(log.at(-1), "cleared");
});

test("a person who resumes ends the pause at once, and the same call is tried again", async () => {
  const { ask, waited, calls } = lab([answer(), failing("out-of-money"), answer()], { person: () => 5000 });
  await ask();
  await ask();
  assert.deepEqual(waited, { operator: 5000 });
  assert.deepEqual(calls()[0]!.requestDigest, calls()[1]!.requestDigest);
});

test("a wait is shown with its cause, its beginning and its end", async () => {
  const seen: AttemptWait[] = [];
  const wallNow = () => Date.parse("2026-01-31T10:00:00.000Z");
  const { ask, shown } = lab([answer(), failing("wrong-key"), failing("unreachable"), answer()], {
    wallNow,
    person() {
      seen.push(shown.get("call 2")!);
      return 1000;
    },
    async sleep() {
      seen.push(shown.get("call 2")!);
    },
  });
  await ask();
  await ask();
  const common = { since: "2026-01-31T10:00:00.000Z" };
  assert.deepEqual(seen, [
    {
      ...{ ...common, why: "operator", cause: "wrong-key", whose: "operator", detail: "it was wrong-key" },
      ...{ nextTry: "2026-01-31T10:00:30.000Z", giveUpAt: "2026-02-03T10:00:00.000Z" },
    },
    {
      ...{
        ...common,
        why: "provider",
        cause: "unreachable",
        whose: "provider",
        detail: "it was unreachable",
      },
      ...{ nextTry: "2026-01-31T10:00:01.000Z", giveUpAt: "2026-01-31T11:00:00.000Z" },
    },
  ]);
});

test("when patience with the operator ends, nothing is measured", async () => {
  const patience = { providerMs: hour, operatorMs: hour };
  const steps = [answer(), ...Array.from({ length: 20 }, () => failing("forbidden"))];
  const { ask, pauses, tries } = lab(steps, { patience, person: (ms) => ms });
  await ask();
  await assert.rejects(ask(), ({ whose, cause, message }: ProviderTrouble) => {
    assert.deepEqual([whose, cause], ["operator", "forbidden"]);
    assert.match(message, /over 60 min/);
    return true;
  });
  assert.equal(
    pauses.reduce((sum, ms) => sum + ms, 0),
    hour,
  );
  assert.equal(tries().at(-1)!.waitMs, null);
});

test("a key refused before the first answer ends the attempt at once", async () => {
  const { ask, pauses } = lab([failing("wrong-key")], { person: (ms) => ms });
  await assert.rejects(ask(), ProviderTrouble);
  assert.deepEqual(pauses, []);
});

test("without any answer an attempt ends when patience with its provider ends", async () => {
  const patience = { providerMs: 600_000, operatorMs: hour };
  const { ask, pauses, waited } = lab(
    Array.from({ length: 99 }, () => failing("unreachable")),
    { patience },
  );
  await assert.rejects(ask(), ({ cause, whose }: ProviderTrouble) => {
    assert.deepEqual([cause, whose], ["unreachable", "provider"]);
    return true;
  });
  const whole = pauses.reduce((sum, ms) => sum + ms, 0);
  assert.ok(whole <= 600_000 && whole > 500_000, `${whole}`);
  assert.deepEqual(waited, { provider: whole });
});
