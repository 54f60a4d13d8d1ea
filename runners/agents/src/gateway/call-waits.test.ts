// Calls that a provider cannot take now, or refuses for a reason that the operator can fix: held, sent again,
// answered once. Over loopback, with pauses that the test ends.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import type { Script } from "../../../../tests/support/providers/loopback-provider.ts";
import { gatewayLab, providersAt, purse } from "../testing/gateway-lab.ts";
import type { AttemptWaiting } from "../waiting/waiting.ts";

const chat = (text: string) => ({ model: "gpt-test", messages: [{ role: "user", content: text }] });
const path = "openai/v1/chat/completions";
const answered = { text: "done" };

/** A person who ends every pause when the test says so; `began` resolves as the next one begins. */
function person(patience = { providerMs: 3_600_000, operatorMs: 3_600_000 }) {
  const shown: AttemptWait[] = [];
  const waits: (() => void)[] = [];
  const watchers: (() => void)[] = [];
  const pause = { on: false };
  const waiting: AttemptWaiting = {
    patience,
    board: { show: (_, wait) => void shown.push(wait), clear: () => {} },
    desk: {
      async pause(_, signal) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => reject(signal.reason));
        waits.push(resolve);
        for (const tell of watchers.splice(0)) tell();
        await promise;
      },
      paused: () => pause.on,
      close: async () => {},
    },
  };
  const began = () =>
    waits.length > 0 ? Promise.resolve() : new Promise<void>((resolve) => watchers.push(resolve));
  return {
    ...{ shown, waiting, began, pause },
    resume: () => {
      for (const one of waits.splice(0)) one();
    },
  };
}

async function lab(t: TestContext, script: Script, someone = person()) {
  const at = await gatewayLab(t, script, { waiting: someone.waiting });
  assert.equal((await at.ask(path, chat("first"))).status, 200);
  return { ...at, ...someone };
}

test("after a restart a wrong key waits for a person, since paid work may be lost", async (t) => {
  const at = person();
  const script: Script = [{ status: 401, complaint: "wrong-key" }, { text: "at last" }];
  const counts = { calls: 4, answered: 3 };
  const { ask } = await gatewayLab(t, script, { waiting: at.waiting, counts });
  const asked = ask(path, chat("after the restart"));
  await at.began();
  at.resume();
  assert.equal((await asked).status, 200);
  const fresh = await gatewayLab(t, script, { waiting: person().waiting });
  assert.equal(
    (await fresh.ask(path, chat("the first"))).status,
    502,
    "nothing is lost before the first answer",
  );
});

test("a call refused for its key is held until a person resumes, and then answered normally", async (t) => {
  const at = await lab(t, [answered, { status: 401, complaint: "wrong-key" }, { text: "at last" }]);
  const asked = at.ask(path, chat("second"));
  await at.began();
  assert.deepEqual(at.shown.map(({ why, cause }) => [why, cause]).at(-1), ["operator", "wrong-key"]);
  assert.equal(at.inFlight.size, 0, "its first try is charged, and no other is sent");
  at.resume();
  const answer = await asked;
  assert.equal(answer.status, 200);
  assert.equal(at.inFlight.size, 0);
  assert.match(await answer.text(), /at last/);
  assert.deepEqual(at.spent.waits, ["operator began", "operator ended"]);
  assert.equal(at.provider.seen.length, 3);
  const tries = at.events.flatMap((one) =>
    one.event === "model-try" ? [[one.call, one.try, one.cause, one.waitMs !== null]] : [],
  );
  assert.deepEqual(tries, [[2, 1, "wrong-key", true]]);
  assert.equal(at.events.filter(({ event }) => event === "model-call").length, 2);
});

test("a paused attempt sends no call and is frozen until a person continues it", async (t) => {
  const at = await lab(t, [answered, { text: "after the pause" }]);
  at.pause.on = true;
  const asked = at.ask(path, chat("second"));
  await at.began();
  assert.equal(at.provider.seen.length, 1);
  assert.equal(at.inFlight.size, 0, "nothing is booked");
  const { why, cause, giveUpAt } = at.shown.at(-1)!;
  assert.deepEqual([why, cause, giveUpAt], ["operator", "paused", null]);
  at.pause.on = false;
  at.resume();
  assert.match(await (await asked).text(), /after the pause/);
  assert.deepEqual(at.spent.waits, ["operator began", "operator ended"]);
  assert.deepEqual(
    at.events.filter(({ event }) => event === "model-try"),
    [],
  );
});

test("a held call of an attempt that a person pauses is not sent until it is continued, and patience begins again", async (t) => {
  const refused = { status: 401, complaint: "wrong-key" as const };
  const at = await lab(
    t,
    [answered, refused, refused, { text: "after the pause" }],
    person({ providerMs: 100, operatorMs: 100 }),
  );
  const asked = at.ask(path, chat("second"));
  await at.began();
  at.pause.on = true;
  at.resume(); // as at the time of the next try
  await at.began();
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(at.provider.seen.length, 2, "no further try");
  const { why, cause, giveUpAt } = at.shown.at(-1)!;
  assert.deepEqual([why, cause, giveUpAt], ["operator", "paused", null]);
  at.pause.on = false;
  at.resume();
  await at.began();
  assert.equal(at.shown.at(-1)!.cause, "wrong-key", "not given up, after more than its patience");
  at.resume();
  assert.match(await (await asked).text(), /after the pause/);
});

const text = (content: string) => [{ role: "user", content }];
/** OpenRouter's. */
const noCredits = { status: 200, body: '{"error":{"code":402,"message":"Insufficient credits"}}' };
for (const [title, to, body, refusal = { text: "", complaint: "no-money" as const }] of [
  ["chat completions", path, { ...chat("second"), stream: true }],
  ["responses", "openai/v1/responses", { model: "gpt-test", input: text("second"), stream: true }],
  [
    "messages",
    "anthropic/v1/messages",
    { model: "claude-test", max_tokens: 99, messages: text("second"), stream: true },
  ],
  ["chat completions that are not streamed", path, chat("second"), noCredits],
  ["chat completions without a stream", path, { ...chat("second"), stream: true }, noCredits],
] as const)
  test(`an answer of ${title} that begins with status 200 and reports missing money is held like a refusal`, async (t) => {
    const at = await lab(t, [answered, refusal, { text: "at last" }]);
    const asked = at.ask(to, body);
    await Promise.race([at.began(), asked.then((answer) => assert.fail(`${answer.status}`))]);
    assert.equal(at.shown.at(-1)?.cause, "out-of-money");
    at.resume();
    const answer = await asked;
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /last/);
    assert.deepEqual(at.spent.waits, ["operator began", "operator ended"]);
    assert.equal(at.events.filter(({ event }) => event === "model-call").length, 2);
  });

test("a held call is sent again with the new key", async (t) => {
  const someone = person();
  let given: ReturnType<typeof providersAt> = [];
  const at = await gatewayLab(t, [answered, answered], {
    waiting: someone.waiting,
    providers(provider) {
      given = providersAt(provider);
      return given;
    },
  });
  const right = given[0]!.key!;
  await at.ask(path, chat("first"));
  given[0]!.key = "a-key-that-was-revoked";
  const asked = at.ask(path, chat("second"));
  await someone.began();
  assert.equal(at.provider.turnedAway(), 1);
  given[0]!.key = right;
  someone.resume();
  assert.equal((await asked).status, 200);
  assert.deepEqual([at.provider.seen.length, at.provider.turnedAway()], [2, 1]);
});

test("an answer that came after its program gave up answers the next equal request, without a second call", async (t) => {
  const at = await lab(t, [answered, { status: 401, complaint: "wrong-key" }, { text: "paid once" }]);
  const over = new AbortController();
  const first = fetch(`http://127.0.0.1:${at.port}/${path}`, {
    method: "POST",
    headers: { authorization: "Bearer mlrb-0123456789abcdef", "content-type": "application/json" },
    body: JSON.stringify(chat("second")),
    signal: over.signal,
  });
  await at.began();
  at.resume();
  const answer = await first; // it is here, and its program does not look
  assert.equal(answer.status, 200);
  over.abort();
  await answer.text().catch(() => {});
  const again = await at.ask(path, chat("second"));
  assert.match(await again.text(), /paid once/);
  assert.equal(at.provider.seen.length, 3, "the provider was asked once");
  assert.equal(at.events.filter(({ event }) => event === "model-call").length, 2);
  const other = at.ask(path, chat("second"));
  assert.equal((await other).status, 400, "a later one is a call of its own: the script is used up");
});

test("the call of a program that went away is not sent again, and its next call is held instead", async (t) => {
  const at = await lab(t, (_, index) =>
    index === 0 || index === 3 ? answered : { status: 401, complaint: "wrong-key" },
  );
  const over = new AbortController();
  const gone = fetch(`http://127.0.0.1:${at.port}/${path}`, {
    method: "POST",
    headers: { authorization: "Bearer mlrb-0123456789abcdef", "content-type": "application/json" },
    body: JSON.stringify(chat("second")),
    signal: over.signal,
  }).catch(() => "gone");
  await at.began();
  over.abort();
  assert.equal(await gone, "gone");
  for (let looks = 0; at.ended.length < 2 && looks < 500; looks++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  const last = at.ended.at(-1)!;
  assert.ok(last !== "answered" && last.gone && last.failure.cause === "wrong-key", "why it may end");
  at.resume();
  const again = at.ask(path, chat("second"));
  for (let looks = 0; at.provider.seen.length < 3 && looks < 500; looks++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  await at.began();
  at.resume();
  assert.equal((await again).status, 200);
  assert.equal(at.provider.seen.length, 4);
});

test("a wrong key before the first answer, and a model that has not answered yet, are not held", async (t) => {
  const someone = person();
  const fault = [
    { status: 401, complaint: "wrong-key" as const },
    answered,
    { status: 404, complaint: "unknown-model" as const },
  ];
  const at = await gatewayLab(t, fault, { waiting: someone.waiting });
  assert.equal((await at.ask(path, chat("first"))).status, 502);
  assert.equal((await at.ask(path, chat("second"))).status, 200);
  const other = { ...chat("third"), model: "o-test-9" };
  assert.equal((await at.ask(path, other)).status, 502, "another model than the one that answers");
  assert.deepEqual(someone.shown, []);
});

test("when patience with the operator ends, the attempt ends by the operator's failure", async (t) => {
  const at = await lab(
    t,
    (_, index) => (index === 0 ? answered : { status: 401, complaint: "wrong-key" }),
    person({ providerMs: 1, operatorMs: 1 }),
  );
  const asked = at.ask(path, chat("second"));
  await at.began();
  await new Promise((resolve) => setTimeout(resolve, 5));
  at.resume();
  assert.equal((await asked).status, 502);
  const last = at.ended.at(-1)!;
  assert.ok(last !== "answered" && last.lost !== undefined && last.failure.whose === "operator");
});

for (const [what, spent] of [
  ["cap of the run", { overCap: () => "the run's attempts have spent it" }],
  ["budget of the attempt", { over: () => ({ limit: "dollars", detail: "1 of 1 dollars" }) }],
] as const)
  test(`a held call is not sent again once others have spent the ${what}`, async (t) => {
    const someone = person();
    const { meter } = purse();
    const at = await gatewayLab(t, [answered, { status: 401, complaint: "wrong-key" }, { text: "paid" }], {
      waiting: someone.waiting,
      meter,
    });
    await at.ask(path, chat("first"));
    const asked = at.ask(path, chat("second"));
    await someone.began();
    Object.assign(meter, spent);
    someone.resume();
    const answer = await asked;
    assert.equal(at.provider.seen.length, 2, "nothing was sent after the person had mended it");
    const last = at.ended.at(-1)!;
    if (what === "budget of the attempt") {
      assert.equal(answer.status, 402);
      assert.deepEqual(
        at.over.map(({ limit }) => limit),
        ["dollars"],
      );
    } else {
      assert.equal(answer.status, 502);
      assert.ok(last !== "answered" && last.failure.cause === "over-cap");
    }
  });

test("a held call is sent again after the calls in flight that may use up the budget, and once thawed", async (t) => {
  const someone = person();
  const { meter, spent } = purse();
  const full: string[][] = [];
  const hold = meter.hold.bind(meter);
  meter.hold = (most) => {
    const held = hold(most)!;
    const again = () => {
      full.push([...spent.waits]);
      return full.length > 2 && held.again();
    };
    return { ...held, again };
  };
  const at = await gatewayLab(t, [answered, { status: 401, complaint: "wrong-key" }, { text: "at last" }], {
    waiting: someone.waiting,
    meter,
  });
  await at.ask(path, chat("first"));
  const asked = at.ask(path, chat("second"));
  await someone.began();
  someone.resume();
  assert.match(await (await asked).text(), /at last/);
  assert.deepEqual(
    full.map((waits) => waits.at(-1)),
    ["operator began", "operator ended", "operator ended"],
  );
  assert.equal(at.provider.seen.length, 3);
  assert.equal(
    at.events.filter(({ event }) => event === "model-try").length,
    1,
    "the failure is charged once",
  );
});
