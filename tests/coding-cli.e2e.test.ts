// Attempts of a program that behaves like a coding CLI, in a sandbox without a network, with its model outside:
// it works and is measured, it is ended at its time or token limit, and the key does not reach it.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import { attemptStage, emptyData } from "./support/attempts/attempt-stages.ts";
import { keyEnv, keyName, provider, recorded } from "./support/attempts/llm-attempts.ts";
import { filesBelow, type Lab, lab } from "./support/lab.ts";
import { testEngine } from "./support/machines/docker-engine.ts";
import { until } from "./support/processes.ts";
import { LOOPBACK_KEY, type LoopbackProvider } from "./support/providers/loopback-provider.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const missing = await groupsMissing(["memory"]);
const engine = await testEngine();
after(async () => {
  repository.remove();
  if (!("skip" in engine)) await engine.stop();
});

function it(title: string, skip: string | undefined, body: (at: Lab, t: TestContext) => Promise<void>): void {
  test(
    title,
    { timeout: 180_000, ...(skip !== undefined && { skip }) },
    async (t) => await body(lab(t, repository), t),
  );
}

type CliOptions = { budget?: Record<string, string | number>; stays?: boolean; mark?: string };

function define(
  at: Lab,
  served: LoopbackProvider,
  { budget = { time: "60s" }, stays = false, mark = at.name }: CliOptions = {},
) {
  at.script("prompt.md", "Write something into submission/. Until {{deadline}}.\n");
  at.script("program/start.sh", "");
  copyFileSync(
    join(import.meta.dirname, "support/attempts/stand-in-cli.py"),
    join(repository.path, at.name, "program/cli.py"),
  );
  const [program, prompt] = [`${at.name}/program`, `${at.name}/prompt.md`];
  const variables = `STAND_IN_MODEL=claude-test STAND_IN_MARK=${mark}${stays ? " STAND_IN_STAYS=1" : ""}`;
  at.define({
    axes: { task: ["empty"], agent: ["model"], seed: [1] },
    stages: {
      data: emptyData,
      attempt: attemptStage({
        params: {
          kind: "command",
          command: ["sh", "-c", `${variables} exec python3 ../program/cli.py`],
          gateway: [{ provider: "anthropic", baseUrl: served.baseUrl, key: keyName, ids: ["claude-test"] }],
          secrets: [keyName],
          program,
          prompt,
        },
        files: [`${program}/**`, prompt],
        secrets: [keyName],
        budget,
      }),
    },
  });
}

const run = (at: Lab, env: NodeJS.ProcessEnv = {}, ...more: string[]) =>
  at.pipeline(["run", at.name, "--json", "--yes", "--root", at.root, ...more], {
    env: { ...env, ...keyEnv },
  });

const shell = (command: string) => ({
  toolCalls: [{ name: "shell", input: { command } }],
  usage: { input: 500, output: 50, cached: 100 },
});
const script = [
  shell('echo trained > "$MLRB_SUBMISSION/model"; cp seen.txt "$MLRB_SUBMISSION/seen.txt"'),
  { status: 429, retryAfterMs: 1500 },
  shell("seq 100000"),
  { text: "I am done.", usage: { input: 700, output: 10 } },
];

/** Of processes that were started with `mark`. */
function alive(mark: string): number {
  return readdirSync("/proc").filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "latin1").includes(`STAND_IN_MARK=${mark}`)
      );
    } catch {
      return false;
    }
  }).length;
}

async function wholeAttempt(at: Lab, t: TestContext, env: NodeJS.ProcessEnv, ...more: string[]) {
  const served = await provider(t, script);
  define(at, served);
  const said = await run(at, env, ...more);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, events, read } = recorded(at);
  assert.equal(ledger.ended, "finished");
  assert.equal(read("submission/model"), "trained\n");
  assert.deepEqual(
    [ledger.tokens, ledger.usage?.calls, ledger.usage?.failedTries, ledger.usage?.cachedInputTokens],
    [1810, 3, 1, 200],
  );
  assert.equal(ledger.dollars, null, "no price is known for it");
  assert.ok(ledger.waitedMs!["rate-limit"]! >= 1000, JSON.stringify(ledger.waitedMs));
  assert.ok(ledger.workingMs <= ledger.wallMs - 1000, `${ledger.workingMs} of ${ledger.wallMs}`);
  const named = (name: string) => events.filter(({ event }) => event === name);
  assert.deepEqual(
    named("model-call").map(({ by }) => by),
    ["program", "program", "program"],
  );
  assert.deepEqual(
    named("model-try").map(({ cause, whose }) => [cause, whose]),
    [["rate-limit", "provider"]],
  );
  assert.equal(named("iteration").length, 2);
  assert.ok(named("output").length > 10);
  assert.match(read("submission/seen.txt"), /ANTHROPIC_BASE_URL.{0,40}127\.0\.0\.1/);
  for (const [file, text] of Object.entries(filesBelow(join(at.root, ".mlrb"))))
    assert.ok(!text.includes(LOOPBACK_KEY), `${file} holds the key`);
  assert.ok(!said.stdout.includes(LOOPBACK_KEY) && !said.stderr.includes(LOOPBACK_KEY));
  assert.equal(alive(at.name), 0);
}

it(
  "a coding CLI without key or network is measured behind bubblewrap, with the cost of its model",
  missing,
  (at, t) => wholeAttempt(at, t, {}),
);

it("the same CLI is also measured in a container", "skip" in engine ? engine.skip : undefined, (at, t) =>
  wholeAttempt(at, t, "skip" in engine ? {} : engine.env, "--executor", "docker"),
);

it(
  "a CLI whose key is refused during its work is held, and continues with the new key",
  missing,
  async (at, t) => {
    let now: "wrong-key" | undefined;
    let index = 0;
    const steps = script.filter((one) => !("status" in one));
    const served = await provider(t, () => {
      if (index === 1 && now === undefined) now = "wrong-key";
      return now === undefined || resumed ? steps[index++]! : { status: 401, complaint: now };
    });
    let resumed = false;
    define(at, served);
    const going = at.start(["run", at.name, "--json", "--yes", "--root", at.root], { env: keyEnv });
    const running = join(at.root, ".mlrb/attempts/running");
    const name = await until("the attempt to wait", () => {
      const [one] = existsSync(running) ? readdirSync(running) : [];
      return one !== undefined && existsSync(join(running, one, "waiting.json")) && one;
    });
    const tried = served.seen.length;
    resumed = true;
    const said = await at.pipeline(["attempts", "resume", name, "--root", at.root], { env: keyEnv });
    assert.equal(said.code, 0, said.stderr);
    const ended = await going.ended;
    assert.equal(ended.code, 0, ended.stdout + ended.stderr);
    const { ledger, events, read } = recorded(at);
    assert.equal(ledger.ended, "finished");
    assert.equal(read("submission/model"), "trained\n");
    assert.equal(ledger.usage?.calls, 3);
    assert.ok(ledger.waitedMs!.operator! > 0);
    assert.deepEqual([tried, served.seen.length], [2, 4], "no answer was asked for twice");
    const failed = events
      .filter(({ event }) => event === "model-try")
      .map(({ cause, whose }) => [cause, whose]);
    assert.deepEqual(failed, [["wrong-key", "operator"]]);
  },
);

it(
  "at its deadline a CLI that does not end is killed with all its processes, and its saved files count",
  missing,
  async (at, t) => {
    const served = await provider(t, [
      script[0]!,
      shell('while [ ! -e "$MLRB_SUBMISSION/step" ]; do sleep 0.05; done; cp "$MLRB_SUBMISSION/step" said'),
      shell('cp said "$MLRB_SUBMISSION/then"'),
      { text: "I am done.", usage: { input: 700, output: 10 } },
    ]);
    define(at, served, { budget: { time: "8s" }, stays: true });
    const said = await run(at);
    assert.equal(said.code, 0, said.stdout + said.stderr);
    const { ledger, events, read } = recorded(at);
    assert.equal(ledger.ended, "time-limit");
    assert.ok(ledger.workingMs >= 8000, String(ledger.workingMs));
    const counts = / characters of task, (\d+) seconds left/;
    const notice = events.find(({ text }) => counts.test(String(text)))!;
    const left = Number(counts.exec(String(notice.text))![1]);
    // of the eight, minus the time until this was noticed; deadlines are whole seconds, and the program rounds
    const least = 8 - Number(notice.sinceStartMs) / 1000 - 1.5;
    assert.ok(left <= 8 && left >= least, `${left} seconds were left, not ${least} to 8`);
    assert.equal(read("submission/model"), "trained\n");
    const [then, last] = [Number(read("submission/then")), Number(read("submission/step"))];
    assert.ok(last > then, `its training went on after its last word: step ${then}, then ${last}`);
    // its own steps are the clock: on a slow machine it makes fewer
    assert.ok(last <= 2 * (8000 / 50), `${last} steps of 50 ms in a budget of 8 s`);
    await sleep(100);
    assert.equal(alive(at.name), 0);
  },
);

it("when its tokens are used up, the program is ended, whatever it still does", missing, async (at, t) => {
  const served = await provider(t, () => shell('echo more >> "$MLRB_SUBMISSION/model"'));
  define(at, served, { budget: { time: "60s", tokens: 1500 }, stays: true });
  const said = await run(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, read } = recorded(at);
  assert.equal(ledger.ended, "token-limit");
  assert.equal(ledger.tokens, 1650, "the call that goes over is answered, the next is not begun");
  assert.equal(read("submission/model"), "more\nmore\nmore\n");
  assert.equal(alive(at.name), 0);
});

it("a CLI that gives up because its provider is down is not measured", missing, async (at, t) => {
  const served = await provider(t, () => ({ status: 500 }));
  define(at, served);
  const said = await run(at);
  assert.equal(said.code, 1, said.stdout);
  assert.match(said.stdout + said.stderr, /anthropic claude-test: server-error: 500/);
});
