// Agents that are our loop around a model, in a sandbox, with a provider on 127.0.0.1: their work is measured,
// their failures are attributed, and their cost is right however they end.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { attemptStage, emptyData } from "./support/attempts/attempt-stages.ts";
import { judgedStages } from "./support/attempts/judged-stages.ts";
import {
  attemptName,
  defineLlmAttempt,
  keyEnv,
  keyName,
  provider,
  recorded,
  shell,
  submit,
  tool,
} from "./support/attempts/llm-attempts.ts";
import { recordsIn } from "./support/end-state.ts";
import { filesBelow, type Lab, lab, outcomes } from "./support/lab.ts";
import { stepsIn, until } from "./support/processes.ts";
import { LOOPBACK_KEY } from "./support/providers/loopback-provider.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const missing = await groupsMissing(["memory"]);

function it(title: string, body: (at: Lab, t: TestContext) => Promise<void>): void {
  const skip = missing ?? false;
  test(title, { timeout: 180_000, skip }, async (t) => await body(lab(t, repository), t));
}

const run = (at: Lab, ...more: string[]) =>
  at.pipeline(["run", at.name, "--json", "--yes", "--root", at.root, ...more], { env: keyEnv });

const saves = shell("mkdir -p submission && echo trained > submission/model");

it("a model that works through its tools and submits is measured, with its usage, and no key is stored", async (at, t) => {
  const secrets =
    "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; ls / ~ ; cat /root/.netrc; echo done";
  const served = await provider(t, [
    shell("cat TASK.md; ls"),
    shell(secrets),
    tool("note", { text: "baseline first" }),
    tool("iteration", {
      id: "1",
      parent: null,
      hypothesis: "h",
      change: "c",
      command: "x",
      metric: { name: "loss", split: "dev", value: 1 },
      decision: "keep",
    }),
    tool("write_file", { path: "submission/model", text: "trained\n" }),
    submit(),
  ]);
  defineLlmAttempt(at, served);
  const said = await run(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, events, read, folder, record } = recorded(at);
  assert.equal(ledger.ended, "submitted");
  assert.equal(read("submission/model"), "trained\n");
  assert.equal(ledger.usage?.calls, 6);
  assert.ok(ledger.tokens! > 100 && ledger.tokens === ledger.usage!.inputTokens + ledger.usage!.outputTokens);
  assert.equal(ledger.dollars, null, "no price is known for it");
  assert.match((record.ran as { where: { sandbox: string } }).where.sandbox, /^bubblewrap/);
  assert.equal((await verifyTrajectory(join(folder, "trajectory.jsonl"), ledger.trajectory)).kind, "intact");
  const result = events.filter(({ event }) => event === "tool-result").map(({ text }) => String(text));
  assert.match(result[0]!, /Write something into submission/);
  assert.match(result[1]!, /done/);
  assert.equal(events.filter(({ event }) => event === "iteration").length, 1);
  assert.equal(events.filter(({ event }) => event === "note").length, 1);
  const [written, ...more] = events.filter(({ event }) => event === "file-change");
  assert.deepEqual([written!.path, written!.digest, more], ["submission/model", sha256("trained\n"), []]);
  for (const [file, text] of Object.entries(filesBelow(join(at.root, ".mlrb"))))
    assert.ok(!text.includes(LOOPBACK_KEY), `${file} holds the key`);
  assert.ok(!said.stdout.includes(LOOPBACK_KEY) && !said.stderr.includes(LOOPBACK_KEY));
  assert.ok(served.seen.every(({ body }) => !JSON.stringify(body).includes(LOOPBACK_KEY)));
});

it("waiting for a rate limit is not working time, and every try is stored with who is responsible", async (at, t) => {
  const busy = { status: 429, complaint: "rate-limit" as const, retryAfterMs: 1500 };
  const served = await provider(t, [
    busy,
    { status: 529, complaint: "overloaded" },
    saves,
    { ...submit(), cut: 40 },
    submit(),
  ]);
  defineLlmAttempt(at, served, { provider: "anthropic" });
  const said = await run(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, events } = recorded(at);
  const tries = events.filter(({ event }) => event === "model-try");
  assert.deepEqual([...new Set(tries.map(({ whose }) => whose))], ["provider"]);
  assert.equal(tries.length, 3);
  assert.equal(ledger.usage?.failedTries, 3);
  assert.ok(ledger.waitedMs!["rate-limit"]! >= 1500, JSON.stringify(ledger.waitedMs));
  assert.ok(ledger.workingMs <= ledger.wallMs - 1500, `${ledger.workingMs} of ${ledger.wallMs}`);
  assert.equal(ledger.ended, "submitted");
});

it("a run with --set model asks the chosen model, after a plan by the preset's planner, and another model is another attempt", async (at, t) => {
  const served = await provider(t, ({ model }) =>
    model === "planner-1" ? { text: "1. Hand in." } : submit(),
  );
  const { baseUrl } = served;
  const endpoint = { baseUrl, key: keyName, contextTokens: 32_000, free: true };
  repository.write(
    "runners/agents/presets/endpoint.yaml",
    JSON.stringify({
      ...{ formatVersion: 1, name: "endpoint", title: "An endpoint", kind: "llm", provider: "loopback" },
      ...{ model: endpoint, planner: { ...endpoint, provider: "loopback", id: "planner-1" } },
      ...{ scaffold: "mlrb-2024", secrets: [keyName] },
    }),
  );
  at.script("prompt.md", "Write something into submission/. Until {{deadline}}.\n");
  const prompt = `${at.name}/prompt.md`;
  at.define({
    axes: { task: ["empty"], agent: ["endpoint"], seed: [1] },
    stages: {
      data: emptyData,
      attempt: attemptStage({
        ...{ params: { preset: "{agent.preset}", prompt }, files: [prompt], secrets: "{agent.secrets}" },
      }),
    },
  });
  const stage = (model: string) => `attempt[task=empty,agent=endpoint@loopback:${model},seed=1]`;
  const first = await run(at, "--set", "model=loopback/org/worker-1");
  assert.equal(first.code, 0, first.stdout + first.stderr);
  assert.equal(outcomes(first)[stage("org~worker-1")], "succeeded");
  const models = () => served.seen.map(({ model }) => model);
  assert.deepEqual(
    models(),
    ["planner-1", "org/worker-1", "org/worker-1"],
    "an empty submission is refused once",
  );
  const { ledger } = recorded(at);
  assert.deepEqual(
    ledger.usage?.served?.map(({ model, answeredBy, calls }) => [model, answeredBy, calls]),
    [
      ["planner-1", "planner-1", 1],
      ["org/worker-1", "org/worker-1", 2],
    ],
  );
  const second = await run(at, "--set", "model=loopback/org/worker-1,loopback/worker-2");
  assert.equal(outcomes(second)[stage("org~worker-1")], "reused");
  assert.equal(outcomes(second)[stage("worker-2")], "succeeded");
  assert.deepEqual(models().slice(3), ["planner-1", "worker-2", "worker-2"]);
});

it("a refused key is the operator's failure: nothing is measured and nothing is retried", async (at, t) => {
  const served = await provider(t, [submit()]);
  defineLlmAttempt(at, served, { attempt: { retries: 1 } });
  const said = await at.pipeline(["run", at.name, "--json", "--yes", "--root", at.root], {
    env: { LOOPBACK_API_KEY: "another-key-of-ours" },
  });
  assert.equal(said.code, 1, said.stdout);
  assert.equal(outcomes(said)[attemptName], "failed");
  assert.deepEqual(recordsIn(at.root), []);
  assert.equal(served.turnedAway(), 1);
  assert.match(said.stdout, /"cause":"operator: .*key/i);
});

it("a run exceeds its --max-cost by one call at most, and makes no call without a price", async (at, t) => {
  const usage = { input: 100, output: 10 };
  const served = await provider(t, () => ({ ...shell("true"), usage }));
  defineLlmAttempt(at, served, { attempt: { retries: 0 } });
  const refused = await run(at, "--max-cost", "0.5");
  assert.equal(refused.code, 2, refused.stdout);
  assert.match(refused.stderr + refused.stdout, /no-price.*under --max-cost.*loopback scripted-1/su);
  assert.equal(served.seen.length, 0);
  // 0.11 dollars a call
  const said = await run(at, "--max-cost", "0.5", "--price", "scripted-1=1000/1000");
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.match(said.stdout, /over-cap: the run's attempts have spent the 0.5 dollars of its --max-cost/);
  assert.equal(served.seen.length, 5);
});

it("the --max-cost of a run also covers an attempt that it continues, and the ledger lists the prices of both runs", async (at, t) => {
  const { promise: adopted, resolve: go } = Promise.withResolvers<void>();
  t.after(() => go());
  const usage = { input: 100, output: 10 };
  const served = await provider(t, async (_, index) => {
    if (index === 3) await adopted;
    return { ...(index < 20 ? shell("true") : submit()), usage }; // an attempt without a cap ends too
  });
  defineLlmAttempt(at, served, { attempt: { retries: 0 } });
  const words = (...more: string[]) => ["run", at.name, "--json", "--yes", "--root", at.root, ...more];
  const first = at.start(words("--price", "scripted-1=1000/1000"), { env: keyEnv });
  await until("the fourth call", () => served.seen.length === 4);
  first.child.kill("SIGKILL");
  await first.ended;
  // 0.22 dollars a call from now on: the one in flight, and one more
  const second = at.start(words("--max-cost", "0.3", "--price", "scripted-1=2000/2000"), { env: keyEnv });
  const running = join(at.root, ".mlrb/attempts/running");
  const purse = () => readFileSync(join(running, readdirSync(running)[0]!, "purse.json"), "utf8");
  await until("the second run to adopt it", () => JSON.parse(purse()).runs.length === 2);
  go();
  const said = await second.ended;
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.match(said.stdout, /over-cap: the run's attempts have spent the 0.3 dollars of its --max-cost/);
  assert.equal(served.seen.length, 5);

  const [lost] = readdirSync(join(at.root, ".mlrb/attempts/lost"));
  const out = join(at.root, ".mlrb/attempts/lost", lost!, "out");
  const ledger = JSON.parse(readFileSync(join(out, "ledger.json"), "utf8")) as Ledger;
  assert.equal(ledger.dollars!.toFixed(2), "0.77");
  const caps = readdirSync(join(at.root, ".mlrb/attempts/caps"));
  const [secondRun] = caps.map((file) => file.replace(/\.jsonl$/, ""));
  const purses = readFileSync(join(out, "trajectory.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === "purse");
  assert.deepEqual(
    purses.map(({ maxDollars }) => maxDollars),
    [null, 0.3],
  );
  assert.equal(purses[1].run, secondRun);
  assert.deepEqual(
    ledger.prices,
    [1000, 2000].map((rate, index) => ({
      ...{ provider: "loopback", model: "scripted-1", input: rate, output: rate },
      source: `--price of run ${purses[index].run}`,
    })),
  );
  assert.deepEqual(
    purses.map(({ prices }) => prices[0]),
    ledger.prices,
  );
});

it("at the deadline the saved submission counts, and a half-written one is shown as such", async (at, t) => {
  const served = await provider(t, [
    saves,
    shell(
      "sleep 4; echo half > submission/model; nohup sh -c 'while :; do echo x >> submission/model; sleep 0.1; done' & sleep 100",
    ),
  ]);
  defineLlmAttempt(at, served, { budget: { time: "8s" } });
  const said = await run(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, events, read } = recorded(at);
  assert.equal(ledger.ended, "time-limit");
  assert.match(read("submission/model"), /^half/);
  const kept = JSON.parse(read("snapshots/index.json")) as { snapshots: { name: string }[] };
  assert.equal(read(`snapshots/${kept.snapshots[0]!.name}/model`), "trained\n");
  assert.ok(ledger.wallMs < 20_000);
  assert.equal(events.at(-1)!.event, "end");
});

it("an endless model with unknown tools, broken JSON and endless output is ended by its limit", async (at, t) => {
  const served = await provider(t, (_, index) =>
    index % 4 === 0
      ? tool("teleport", { to: "mars" })
      : index % 4 === 1
        ? { toolCalls: [{ id: `m${index}`, name: "shell", rawInput: '{"command": "ls' }] }
        : index % 4 === 2
          ? shell("yes 'a line of output' | head -c 3000000")
          : saves,
  );
  defineLlmAttempt(at, served, { turnsMax: 12 });
  const said = await run(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, events, folder } = recorded(at);
  assert.equal(ledger.ended, "turn-limit");
  const refused = events.filter(({ event, outcome }) => event === "tool-result" && outcome === "refused");
  assert.equal(refused.length, 6);
  assert.ok(
    statSync(join(folder, "trajectory.jsonl")).size < 1_000_000,
    "clipped for the model and for the record",
  );
  const longest = Math.max(...served.seen.map(({ body }) => JSON.stringify(body).length));
  assert.ok(longest < 32_000 * 5, `${longest} characters`);
});

it("a refusal is the agent's failure, and measured", async (at, t) => {
  const served = await provider(t, () => ({ refusal: "I cannot help with that." }));
  defineLlmAttempt(at, served, { provider: "anthropic" });
  const said = await run(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(recorded(at).ledger.ended, "refusal");
});

it("a token budget ends an attempt with its current submission", async (at, t) => {
  const served = await provider(t, () => ({ ...saves, usage: { input: 400, output: 100 } }));
  defineLlmAttempt(at, served, { budget: { time: "60s", tokens: 1200 } });
  const said = await run(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger } = recorded(at);
  assert.equal(ledger.ended, "token-limit");
  assert.equal(ledger.tokens, 1500);
  assert.equal(ledger.submission.files, 1);
});

it("if a model's tool kills every process it can reach, the attempt continues or ends, and its record is complete", async (at, t) => {
  const served = await provider(t, [
    saves,
    shell("kill -9 -1; echo still here"),
    shell("echo alive"),
    submit(),
  ]);
  defineLlmAttempt(at, served);
  const said = await run(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, events } = recorded(at);
  assert.ok(["submitted", "gave-up", "silent", "agent-error"].includes(ledger.ended), ledger.ended);
  assert.equal(events.at(-1)!.event, "end");
  assert.equal(ledger.submission.files, 1);
});

it("a killed step leaves its spending and work on disk; the next run starts again and says so", async (at, t) => {
  const served = await provider(t, (_, index) =>
    index === 0
      ? { ...saves, usage: { input: 300, output: 50 } }
      : index === 1
        ? shell("sleep 60")
        : submit(),
  );
  defineLlmAttempt(at, served);
  const started = at.start(["run", at.name, "--json", "--yes", "--root", at.root], { env: keyEnv });
  const running = join(at.root, ".mlrb/attempts/running");
  const spentBy = (name: string) => lastSpending(join(running, name, "spending.jsonl"))?.calls;
  await until(
    "the second answer",
    () => existsSync(running) && readdirSync(running).some((name) => spentBy(name) === 2),
  );
  const [step] = stepsIn(at.root);
  process.kill(step!, "SIGKILL");
  const said = await started.ended;
  assert.equal(said.code, 1, said.stdout);
  assert.deepEqual(recordsIn(at.root), []);
  const lost = join(at.root, ".mlrb/attempts/lost");
  const [name, ...others] = readdirSync(lost);
  assert.deepEqual(others, []);
  const spent = lastSpending(join(lost, name!, "spending.jsonl"))!;
  assert.equal(spent.calls, 2);
  assert.ok(spent.inputTokens >= 300);
  assert.ok(
    existsSync(join(lost, name!, "out/trajectory.jsonl")) || existsSync(join(lost, name!, "out/trajectory")),
  );
  const again = await run(at);
  assert.equal(again.code, 0, again.stdout + again.stderr);
  assert.equal(
    recorded(at).ledger.usage?.calls,
    2,
    "the new attempt submits, learns that its submission is empty, and submits again",
  );
});

it("after a kill at any time, all received answers of the model are on disk", async (_, t) => {
  const served = await provider(t, (_request, index) => ({
    ...shell(`echo ${index} >> submission/model; sleep 0.3`),
    usage: { input: 100, output: 10 },
  }));
  for (const pauseMs of [0, 150, 400, 700, 1100]) {
    const before = served.seen.length;
    const at = lab(t, repository);
    defineLlmAttempt(at, served);
    const started = at.start(["run", at.name, "--json", "--yes", "--root", at.root], { env: keyEnv });
    await until("a first request", () => served.seen.length > before);
    await sleep(pauseMs + 50 * Math.random());
    process.kill(stepsIn(at.root)[0]!, "SIGKILL");
    const answered = served.seen.length - before;
    await started.ended;
    const lost = join(at.root, ".mlrb/attempts/lost");
    const spending = join(lost, readdirSync(lost)[0]!, "spending.jsonl");
    const { calls, inputTokens, outputTokens } = lastSpending(spending)!;
    // the last one may have been on its way
    assert.ok(calls === answered || calls === answered - 1, `${calls} calls on record, ${answered} made`);
    assert.deepEqual([inputTokens, outputTokens], [100 * calls, 10 * calls]);
  }
});

for (const scaffold of ["react", "supervisor-worker"] as const)
  it(`a recorded attempt (${scaffold}) replays without a provider to the same submission, and an unknown request is an error`, async (at, t) => {
    const works = [
      shell("cat TASK.md; pwd; echo $((6 * 7)) > submission/model"),
      tool("view_file", { path: "submission/model" }),
    ];
    const script =
      scaffold === "react"
        ? [...works, submit()]
        : [
            tool("delegate", { task: "write the answer" }),
            ...works,
            tool("return_result", { summary: "it is written" }),
            submit(),
          ];
    const served = await provider(t, script);
    defineLlmAttempt(at, served, { scaffold });
    const said = await run(at);
    assert.equal(said.code, 0, said.stdout + said.stderr);
    const first = recorded(at);
    await served.close();

    const recording = `${at.name}/recording`;
    mkdirSync(join(repository.path, recording), { recursive: true });
    for (const part of ["trajectory.jsonl", "attachments"])
      cpSync(join(first.folder, part), join(repository.path, recording, part), { recursive: true });
    const replays = (prompt?: string) => {
      const again = lab(t, repository);
      const params = { kind: "replay", recording, liveTools: true, model: null, provider: null };
      const files = [`${again.name}/prompt.md`, `${recording}/**`];
      defineLlmAttempt(again, served, { params, ...(prompt && { prompt }), attempt: { secrets: [], files } });
      return again;
    };
    const faithful = replays();
    const replayed = await faithful.run();
    assert.equal(replayed.code, 0, replayed.stdout + replayed.stderr);
    const second = recorded(faithful);
    assert.equal(second.ledger.submission.digest, first.ledger.submission.digest);
    assert.equal(second.ledger.dollars, 0, "a replay costs nothing");
    const facts = (events: typeof first.events) =>
      events
        .filter(({ event }) => ["message", "model-call", "tool-result"].includes(event))
        .map(({ event, text, requestDigest }) => ({
          event,
          requestDigest,
          text: String(text).replace(/Until .*/g, ""),
        }));
    assert.deepEqual(facts(second.events), facts(first.events));

    const astray = replays("Something else is wanted. Until {{deadline}}.\n");
    const missed = await astray.run();
    assert.equal(missed.code, 1, missed.stdout);
    assert.match(
      readLog(astray),
      /^the replay does not fit its recording: call 1 is not in it .*first messages differ.*record it again$/m,
    );
    assert.deepEqual(recordsIn(astray.root), []);
  });

it("a replay that stops midway says why in its run, in show and on the page, and costs nothing", async (at, t) => {
  const served = await provider(t, [shell("echo 4 > submission/model; date +%N"), submit()]);
  defineLlmAttempt(at, served);
  assert.equal((await run(at)).code, 0);
  const recording = `${at.name}/recording`;
  mkdirSync(join(repository.path, recording), { recursive: true });
  cpSync(join(recorded(at).folder, "trajectory.jsonl"), join(repository.path, recording, "trajectory.jsonl"));
  const again = lab(t, repository);
  const params = { kind: "replay", recording, liveTools: true, model: null, provider: null };
  const files = [`${again.name}/prompt.md`, `${recording}/**`];
  const stages = judgedStages(again, { title: "Replay", budget: "60s" });
  const axes = { scorer: ["quality"] };
  defineLlmAttempt(again, served, { params, attempt: { secrets: [], files }, stages, axes });
  const said = await again.run();
  const why = /the replay does not fit its recording: call 2 is not in it \(2 calls\)/;
  const whole = new RegExp(`${why.source}.*: record it again`);
  assert.equal(said.code, 1);
  assert.match(said.stdout.replace(/\s+/g, " "), why);
  assert.doesNotMatch(said.stdout + readLog(again), /^ +at /m, "a stack trace");
  const show = ["attempts", "show", attemptName, "--root", again.root];
  const shown = (await startProgram(repository.path, show).ended).stdout.replace(/\s+/g, " ");
  assert.match(shown, why);
  assert.doesNotMatch(shown, /supervisor disappeared/);
  const page = readFileSync(join(again.root, "results", again.name, "default", "report.html"), "utf8");
  const words = page.slice(page.indexOf('class="answers"')).replace(/<[^>]*>/g, "");
  const first = /What went wrong\?1 without a result: empty, model, seed 1: attempt failed: exit-code: /;
  assert.match(words, new RegExp(`${first.source}${why.source}`));
  assert.match(words, whole);
  assert.doesNotMatch(page, /supervisor disappeared|^ +at .*:\d+:\d+/m);
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function readLog({ root }: Lab): string {
  const logs = join(root, ".mlrb/journals/logs");
  return readdirSync(logs)
    .filter((name) => name.startsWith("attempt-"))
    .map((name) => readFileSync(join(logs, name), "utf8"))
    .join("\n");
}
