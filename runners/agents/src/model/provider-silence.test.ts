import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOf } from "./cause-of.ts";
import { providerSilence } from "./provider-silence.ts";

const model = { provider: "p", id: "m" };
const budgetMs = 60_000;

/** The hold ends when the test says so. */
function lab() {
  let clock = 0;
  const hold = Promise.withResolvers<void>();
  const silence = providerSilence({ budgetMs, now: () => clock, pause: () => hold.promise });
  return { silence, pass: (ms: number) => (clock += ms), holdEnds: hold.resolve };
}

test("an attempt is lost to a provider that is silent at the deadline and after it", async () => {
  const { silence, pass, holdEnds } = lab();
  silence.began(model).ended("answered");
  pass(20_000);
  silence.began(model);
  pass(40_000);
  const until = silence.untilDeadline(1);
  holdEnds();
  const trouble = await until;
  assert.deepEqual([trouble?.cause, trouble?.whose], ["idle", "provider"]);
  assert.match(trouble!.message, /no answer in the last 40 s before the deadline/u);
});

test("an answer that begins after the deadline shows that the model was at work", async () => {
  for (const how of ["heard", "answered"] as const) {
    const { silence, pass } = lab();
    const call = silence.began(model);
    silence.began(model);
    pass(60_000);
    const until = silence.untilDeadline(1);
    if (how === "heard") call.heard();
    else call.ended("answered");
    assert.equal(await until, undefined);
  }
});

test("an answer whose parts still come, or no open call, leaves the time to the agent", async () => {
  const { silence, pass } = lab();
  assert.equal(await silence.untilDeadline(1), undefined);
  const call = silence.began(model);
  for (let part = 0; part < 60; part++) {
    pass(1000);
    call.heard();
  }
  pass(500);
  assert.equal(await silence.untilDeadline(1), undefined);
});

test("an answer that has begun and then stops is silence, from its last part on", async () => {
  const { silence, pass, holdEnds } = lab();
  const call = silence.began(model);
  pass(20_000);
  call.heard();
  pass(40_000);
  const until = silence.untilDeadline(1);
  holdEnds();
  const trouble = await until;
  assert.equal(trouble?.whose, "provider");
  assert.match(trouble!.message, /no answer in the last 40 s before the deadline/u);
});

test("a part that comes after the deadline shows that a begun answer was at work", async () => {
  const { silence, pass } = lab();
  const call = silence.began(model);
  call.heard();
  pass(60_000);
  const until = silence.untilDeadline(1);
  call.heard();
  assert.equal(await until, undefined);
});

test("while one call is answered, the silence of another is not the provider's", async () => {
  const { silence, pass } = lab();
  silence.began(model);
  const other = silence.began(model);
  pass(59_900);
  other.heard();
  pass(100);
  assert.equal(await silence.untilDeadline(1), undefined);
});

test("consecutive failed tries count from the first, and an answer ends the series", async () => {
  const { silence, pass } = lab();
  const fails = () => silence.began(model).ended(failureOf("server-error", { detail: "500" }));
  fails();
  pass(30_000);
  fails();
  const trouble = await silence.untilDeadline(1);
  assert.deepEqual([trouble?.cause, trouble?.whose], ["server-error", "provider"]);
  assert.match(trouble!.message, /500; no answer in the last 30 s/u);
  silence.began(model).ended("answered");
  fails();
  assert.equal(await silence.untilDeadline(1), undefined, "it had just begun");
  pass(10_000);
  silence.began(model).ended(failureOf("blocked-request", { detail: "no" }));
  assert.equal(await silence.untilDeadline(1), undefined, "a refusal is an answer");
});
