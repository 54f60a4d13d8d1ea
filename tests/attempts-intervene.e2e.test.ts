// What people do to an attempt while it works: more budget.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import {
  attemptName,
  defineLlmAttempt,
  keyEnv,
  provider,
  recorded,
  shell,
  submit,
} from "./support/attempts/llm-attempts.ts";
import { type Lab, lab } from "./support/lab.ts";
import { until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const missing = await groupsMissing(["memory"]);

function it(title: string, body: (at: Lab, t: TestContext) => Promise<void>): void {
  test(title, { timeout: 120_000, skip: missing ?? false }, async (t) => await body(lab(t, repository), t));
}

const folderOf = (at: Lab) => {
  const running = join(at.root, ".mlrb/attempts/running");
  const [name] = existsSync(running) ? readdirSync(running) : [];
  return name === undefined ? undefined : join(running, name);
};

it("a paused attempt gets more time, its model is told, and a later run pays nothing again", async (at, t) => {
  const held = Promise.withResolvers<void>();
  const work = [
    shell("mkdir -p submission && echo one > submission/model"),
    shell("echo two >> submission/model"),
    shell("sleep 9"),
    submit(),
  ];
  let asked = 0;
  const served = await provider(t, async () => {
    if (asked === 1) await held.promise;
    return work[asked++]!;
  });
  defineLlmAttempt(at, served, { budget: { time: "9s" } });
  const root = ["--root", at.root];
  const run = at.start(["run", at.name, "--yes", ...root], { env: keyEnv });
  await until("the second call", () => asked === 1 && served.seen.length === 2);
  assert.equal((await at.pipeline(["attempts", "pause", ...root])).code, 0);
  held.resolve();
  const paused = () => folderOf(at) !== undefined && existsSync(join(folderOf(at)!, "waiting.json"));
  await until("the pause", paused);
  const poor = await at.pipeline(["attempts", "extend", attemptName, "--dollars", "1", ...root]);
  assert.equal(poor.code, 2);
  assert.match(poor.stderr, /^no-limit: .* has no limit in dollars/);
  const bad = await at.pipeline(["attempts", "extend", attemptName, "--hours", "-1", ...root]);
  assert.match(bad.stderr, /^bad-extension: nothing was added/);
  const longer = ["attempts", "extend", attemptName, "--hours", "0.01", "--by", "A. Lee", ...root];
  const extended = await at.pipeline(longer);
  assert.equal(extended.code, 0, extended.stderr);
  assert.match(extended.stdout, /extended by 36 s; .*\n.* in no mean and no test/);
  assert.equal((await at.pipeline(["attempts", "resume", ...root], { env: keyEnv })).code, 0);
  const ended = await run.ended;
  assert.equal(ended.code, 0, ended.stdout + ended.stderr);

  const { ledger, events, record, folder } = recorded(at);
  assert.equal(ledger.ended, "submitted");
  assert.ok(ledger.workingMs > 9_000, `${ledger.workingMs} ms`);
  const sums = { extensions: 1, addedMs: 36_000, addedDollars: 0 };
  assert.deepEqual([ledger.interventions, ledger.budget], [sums, { wallMs: 45_000 }]);
  assert.deepEqual((record as { interventions: object }).interventions, sums);
  const [extension] = events.filter(({ event }) => event === "extended");
  assert.deepEqual([extension!.by, extension!.addedMs, extension!.number], ["A. Lee", 36_000, 1]);
  const last = JSON.stringify(served.seen.at(-1)!.body);
  assert.match(last, /\[Notice\] A person extended your budget by 36 seconds of working time\./);

  const calls = served.seen.length;
  const again = await at.pipeline(["run", at.name, "--yes", ...root], { env: keyEnv });
  assert.equal(again.code, 0, again.stderr);
  assert.equal(served.seen.length, calls, "the attempt is reused");
  const listed = await at.pipeline(["attempts", "list", ...root]);
  assert.match(listed.stdout, /extended by 36 s/);
  const shown = await at.pipeline(["attempts", "show", folder.split("/").at(-1)!.slice(0, 12), ...root]);
  assert.match(shown.stdout, /extended: A\. Lee added 36 s\n/);
});
