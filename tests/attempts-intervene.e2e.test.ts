// What people do to an attempt while it works: more budget, a note to its agent, a branch of its own.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
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
import type { SeenRequest } from "./support/providers/loopback-provider.ts";
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

it("a paused attempt gets more time and a note, its model reads both, and a later run pays nothing again", async (at, t) => {
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
  const noted = await at.pipeline(["attempts", "note", attemptName, "Mind the seed.", ...root]);
  assert.equal(noted.code, 0, noted.stderr);
  assert.equal((await at.pipeline(["attempts", "resume", ...root], { env: keyEnv })).code, 0);
  const ended = await run.ended;
  assert.equal(ended.code, 0, ended.stdout + ended.stderr);

  const { ledger, events, record, folder } = recorded(at);
  assert.equal(ledger.ended, "submitted");
  assert.ok(ledger.workingMs > 9_000, `${ledger.workingMs} ms`);
  const sums = { extensions: 1, addedMs: 36_000, addedDollars: 0, notes: 1 };
  assert.deepEqual([ledger.interventions, ledger.budget], [sums, { wallMs: 45_000 }]);
  assert.deepEqual((record as { interventions: object }).interventions, sums);
  const [extension] = events.filter(({ event }) => event === "extended");
  assert.deepEqual([extension!.by, extension!.addedMs, extension!.number], ["A. Lee", 36_000, 1]);
  const last = JSON.stringify(served.seen.at(-1)!.body);
  assert.match(last, /\[Notice\] A person extended your budget by 36 seconds of working time\./);
  assert.match(last, /\[Notice\] A person sends you this message: Mind the seed\./);

  const calls = served.seen.length;
  const again = await at.pipeline(["run", at.name, "--yes", ...root], { env: keyEnv });
  assert.equal(again.code, 0, again.stderr);
  assert.equal(served.seen.length, calls, "the attempt is reused");
  const listed = await at.pipeline(["attempts", "list", ...root]);
  assert.match(listed.stdout, /extended by 36 s, 1 note/);
  const shown = await at.pipeline(["attempts", "show", folder.split("/").at(-1)!.slice(0, 12), ...root]);
  assert.match(shown.stdout, /extended: A\. Lee added 36 s\n/);
});

it("a branch begins at a checkpoint with the parent's lines, files and meter, pays for its own calls, and is in no plan", async (at, t) => {
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  let isBranched = false;
  const served = await provider(t, async ({ body }: SeenRequest) => {
    const usage = { input: 100, output: 10 };
    const results = (JSON.stringify(body).match(/exit code 0\\nok/g) ?? []).length;
    if (results === 0)
      return { ...shell("mkdir -p submission; echo one > submission/model; echo ok"), usage };
    const own = isBranched ? "branch" : "two";
    if (results === 1 && !isBranched) await until("a checkpoint", () => checkpointAfter(at, 1));
    if (results === 1) return { ...shell(`echo ${own} >> submission/model; sleep 1; echo ok`), usage };
    if (!isBranched) await held.promise;
    return { ...submit(), usage };
  });
  defineLlmAttempt(at, served, { budget: { time: "60s", tokens: 5_000 } });
  const root = ["--root", at.root];
  const run = at.start(["run", at.name, "--yes", ...root], { env: keyEnv });
  const parent = await until("a checkpoint after the first step", () => checkpointAfter(at, 1));
  await until("the third call", () => served.seen.length === 3);
  const early = await at.pipeline(["attempts", "branch", attemptName, "--at", "x", "--yes", ...root]);
  assert.match(early.stderr, /^no-checkpoint: .* has no checkpoint at or before --at x\n {2}help: .* step/);
  const words = ["attempts", "branch", attemptName, "--at", "1", ...root];
  const asked = await at.pipeline(words, { env: keyEnv });
  assert.equal(asked.code, 2, asked.stderr);
  assert.match(asked.stderr, /over-cost: This would start 1 attempt/);
  isBranched = true;
  const branched = await at.pipeline([...words, "--yes"], { env: keyEnv });
  assert.equal(branched.code, 0, branched.stdout + branched.stderr);
  assert.match(branched.stderr, /,branch=[0-9a-f]{12}@1\]: begins at step 1 of /);

  const { ledger, events, folder, read } = recorded(at);
  const branch = ledger.branch!;
  assert.deepEqual([branch.parent, branch.step, ledger.resumed], [parent.name, 1, undefined]);
  assert.deepEqual([ledger.usage!.calls, ledger.tokens], [2, 220], "its own calls only");
  const lines = read("trajectory.jsonl").split("\n");
  const theirs = readFileSync(join(parent.path, "out/trajectory.jsonl"), "utf8").split("\n");
  assert.deepEqual(lines.slice(0, branch.after), theirs.slice(0, branch.after));
  const first = events.find(({ index }) => index === branch.after)!;
  assert.equal(first.previous, branch.head);
  assert.ok(events.some(({ event }) => event === "branched"));
  assert.equal(readFileSync(join(folder, "submission/model"), "utf8"), "one\nbranch\n");
  const verified = await at.pipeline(["attempts", "verify", ...root]);
  assert.match(verified.stdout, /1 attempt read, 0 damaged/);

  held.resolve();
  const ended = await run.ended;
  assert.equal(ended.code, 0, ended.stdout + ended.stderr);
  const listed = await at.pipeline(["attempts", "list", ...root]);
  assert.match(listed.stdout, /attempt\[task=empty,agent=model,seed=1\]\n/);
  assert.match(listed.stdout, /attempt\[task=empty,agent=model,seed=1,branch=[0-9a-f]{12}@1\]\n/);
  const calls = served.seen.length;
  const again = await at.pipeline(["run", at.name, "--yes", ...root], { env: keyEnv });
  assert.equal(again.code, 0, again.stderr);
  assert.equal(served.seen.length, calls);
  const shown = await at.pipeline(["attempts", "show", attemptName, "--json", ...root]);
  assert.match(shown.stdout, /"stage":"attempt\[task=empty,agent=model,seed=1\]"/, "the parent's");
});

/** The attempt's folder, once a checkpoint holds what its first steps made. */
function checkpointAfter(at: Lab, steps: number): { name: string; path: string } | undefined {
  const path = folderOf(at);
  if (path === undefined || !existsSync(join(path, "checkpoints"))) return undefined;
  const answers = readFileSync(join(path, "out/trajectory.jsonl"), "utf8").split("\n");
  const found = readdirSync(join(path, "checkpoints")).some((file) => {
    if (!/^\d+\.json$/.test(file)) return false;
    const { after } = JSON.parse(readFileSync(join(path, "checkpoints", file), "utf8"));
    const before = answers.slice(0, after);
    const count = (event: string) => before.filter((line) => line.includes(`"event":"${event}"`)).length;
    return count("model-call") === steps && count("tool-result") === steps;
  });
  return found ? { name: basename(path), path } : undefined;
}
