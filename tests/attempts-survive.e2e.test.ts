// Attempts of a model whose supervisor or host dies continue where they were: same submission, no answer paid
// twice.
import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { attemptStage, emptyData } from "./support/attempts/attempt-stages.ts";
import {
  defineLlmAttempt,
  keyEnv,
  keyName,
  provider,
  recorded,
  shell,
  submit,
} from "./support/attempts/llm-attempts.ts";
import { type Lab, lab } from "./support/lab.ts";
import { attemptProcesses, stepsIn, supervisorsIn, until } from "./support/processes.ts";
import type { LoopbackProvider, SeenRequest } from "./support/providers/loopback-provider.ts";
import type { Started } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const missing = await groupsMissing(["memory"]);

function it(title: string, body: (at: Lab, t: TestContext) => Promise<void>): void {
  test(title, { timeout: 120_000, skip: missing ?? false }, async (t) => await body(lab(t, repository), t));
}

/** Each step may be done twice: what a restart ended is asked for again. */
const steps = [1, 2, 3, 4].map(
  (step) => `mkdir -p submission; echo ${step} > submission/step${step}; sleep 0.4; echo ok`,
);

/** Answers by the conversation: the first step whose result it does not hold, and at the end a submission. */
function patient(t: TestContext, pauseMs = 100): Promise<LoopbackProvider> {
  return provider(t, async ({ body }: SeenRequest) => {
    await sleep(pauseMs);
    const results = (JSON.stringify(body).match(/exit code 0\\nok/g) ?? []).length;
    const step = steps[results];
    const usage = { input: 100, output: 10 };
    return { ...(step === undefined ? submit() : shell(step)), usage };
  });
}

const words = (at: Lab) => ["run", at.name, "--json", "--yes", "--root", at.root];
const digestOf = (record: unknown) =>
  (record as { outputs: { submission: { digest: string } } }).outputs.submission.digest;

/** The folder of the running attempt, once its spending counts so many calls. */
const afterCalls = (at: Lab, calls: number) =>
  until(`call ${calls}`, () => {
    const running = join(at.root, ".mlrb/attempts/running");
    const [name] = existsSync(running) ? readdirSync(running) : [];
    const spending = name === undefined ? "" : join(running, name, "spending.jsonl");
    if (!existsSync(spending)) return undefined;
    const last = readFileSync(spending, "utf8").trimEnd().split("\n").at(-1);
    return JSON.parse(last || "{}").calls >= calls ? join(running, name!) : undefined;
  });

async function undisturbed(t: TestContext): Promise<{ digest: string; calls: number }> {
  const at = lab(t, repository);
  defineLlmAttempt(at, await patient(t), { turnsMax: 20 });
  assert.equal((await at.start(words(at), { env: keyEnv }).ended).code, 0);
  const { record, ledger } = recorded(at);
  return { digest: digestOf(record), calls: ledger.usage!.calls };
}

it("an attempt whose supervisor is killed continues in the same run, with the same submission and at most one call more", async (at, t) => {
  const even = await undisturbed(t);
  const served = await patient(t, 400);
  defineLlmAttempt(at, served, { turnsMax: 20 });
  const run = at.start(words(at), { env: keyEnv });
  for (const calls of [1, 3]) {
    await afterCalls(at, calls);
    await sleep(300 * Math.random());
    for (const pid of supervisorsIn(at.root)) process.kill(pid, "SIGKILL");
    await until("another supervisor", () => supervisorsIn(at.root).length === 1);
  }
  const said = await run.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { record, ledger, events } = recorded(at);
  assert.equal(digestOf(record), even.digest);
  assert.equal(ledger.resumed, 2);
  const resumed = events.filter(({ event }) => event === "resumed");
  assert.deepEqual(
    resumed.map(({ times, workspace }) => [times, workspace]),
    [
      [1, "kept"],
      [2, "kept"],
    ],
  );
  const answers = events.filter(({ event }) => event === "model-call").length;
  checkCalls(ledger, answers);
  assert.ok(served.seen.length <= answers + 2, `${served.seen.length} requests, ${answers} answers`);
  const times = events.map(({ time, sinceStartMs }) => [String(time), Number(sinceStartMs)] as const);
  assert.ok(
    times.every(([time, ms], at) => at === 0 || (time >= times[at - 1]![0] && ms >= times[at - 1]![1])),
  );
  assert.match(JSON.stringify(served.seen.at(-1)!.body), /\[Notice\] The machine was restarted/);
});

it("after the death of the host the next run continues the attempt, says so in its tables, and asks nothing twice", async (at, t) => {
  const even = await undisturbed(t);
  const served = await patient(t);
  defineLlmAttempt(at, served, { turnsMax: 20 });
  const first = at.start(words(at), { env: keyEnv });
  const folder = await afterCalls(at, 2);
  await killAll(at, first);
  appendFileSync(join(folder, "out/trajectory.jsonl"), '{"event":"tool-'); // half a line, as a host leaves it
  const before = served.seen.length;

  const planned = await at.pipeline(["plan", at.name, "--json", "--root", at.root], { env: keyEnv });
  assert.match(planned.stdout, /"kind":"goes-on","since":"[^"]+","resumes":true/);
  const without = await at.pipeline(words(at), { env: { [keyName]: "" } });
  assert.equal(without.code, without.code === 2 ? 2 : 1);
  assert.ok(existsSync(folder), "an attempt that lacks its key stays as it is");

  const listed = await at.pipeline(["attempts", "list", "--root", at.root]);
  assert.match(listed.stdout, /the next run continues it/);
  const second = await at.start(words(at), { env: keyEnv }).ended;
  assert.equal(second.code, 0, second.stdout + second.stderr);
  const { record, ledger, events, folder: kept } = recorded(at);
  assert.equal(digestOf(record), even.digest);
  assert.equal(ledger.resumed, 1);
  const resumed = events.find(({ event }) => event === "resumed")!;
  assert.equal(resumed.droppedBytes, 15);
  const answers = events.filter(({ event }) => event === "model-call").length;
  assert.ok(
    served.seen.length <= answers + 1,
    `${served.seen.length} requests, ${answers} answers, ${before} before`,
  );
  assert.equal((record as { ran: { where: { resumed: string } } }).ran.where.resumed, "1");
  assert.equal((await verifyTrajectory(join(kept, "trajectory.jsonl"), ledger.trajectory)).kind, "intact");
  const forged = readFileSync(join(kept, "trajectory.jsonl"), "utf8").replace('"times":1', '"times":2');
  writeFileSync(join(at.outside, "forged.jsonl"), forged);
  assert.equal((await verifyTrajectory(join(at.outside, "forged.jsonl"), ledger.trajectory)).kind, "broken");
});

it("if its files are gone too, an attempt returns to its last restore point, and what came later stays in its cost", async (at, t) => {
  const even = await undisturbed(t);
  const served = await patient(t, 900);
  defineLlmAttempt(at, served, { turnsMax: 20, budget: { time: "40s" } });
  const first = at.start(words(at), { env: keyEnv });
  const folder = await afterCalls(at, 1);
  await until("a restore point", () => existsSync(join(folder, "restore-points/0001.json")));
  const { after: point } = JSON.parse(readFileSync(join(folder, "restore-points/0001.json"), "utf8"));
  const answersAt = (lines: number) =>
    readFileSync(join(folder, "out/trajectory.jsonl"), "utf8")
      .split("\n")
      .slice(0, lines)
      .filter((line) => line.includes('"event":"model-call"')).length;
  await until("two more answers", () => answersAt(Number.POSITIVE_INFINITY) >= answersAt(point) + 2);
  await killAll(at, first);
  rmSync(join(folder, "restore-points/0002.json"), { force: true });
  await removeDiskImages(folder);
  for (const name of readdirSync(folder).filter((one) => one.startsWith("attempt-")))
    rmSync(join(folder, name), { recursive: true });
  const known = answersAt(point);
  const paid = answersAt(Number.POSITIVE_INFINITY);

  const id = basename(folder).slice(0, 12);
  const second = await at.pipeline(["attempts", "resume", id, "--root", at.root], { env: keyEnv });
  assert.equal(second.code, 0, second.stdout + second.stderr);
  assert.match(second.stderr, /resumed attempt\[task=empty,agent=model,seed=1\] {2}\(started .*had died\)$/m);
  const { record, ledger, events } = recorded(at);
  assert.equal(digestOf(record), even.digest);
  const resumed = events.find(({ event }) => event === "resumed")!;
  assert.deepEqual([resumed.workspace, resumed.after, resumed.step], ["restore-point", point, known]);
  assert.ok(Number(resumed.creditedMs) > 500, "the time since the restore point is given back");
  assert.ok(ledger.wallMs - ledger.workingMs >= Number(resumed.creditedMs) - 1);
  const answers = events.filter(({ event }) => event === "model-call");
  checkCalls(ledger, answers.length); // those that were left behind are counted
  assert.equal(
    new Set(answers.map(({ call }) => call)).size,
    answers.length,
    "no number of a call is used twice",
  );
  assert.ok(answers.length >= paid + even.calls - known && served.seen.length <= answers.length + 1);
});

it("an attempt that a run with --set began can be given up with its files and its cost, and resumed all the same", async (at, t) => {
  const served = await patient(t);
  defineLlmAttempt(at, served, { turnsMax: 20 });
  const set = ["--set", "seed=7"]; // no seed of the pipeline
  const run = at.start([...words(at), ...set], { env: keyEnv });
  const folder = await afterCalls(at, 1);
  await killAll(at, run);
  const stopped = await at.pipeline(["attempts", "stop", basename(folder), "--root", at.root]);
  assert.equal(stopped.code, 0, stopped.stderr);
  const lost = join(at.root, ".mlrb/attempts/lost", basename(folder));
  const { cause, spending } = JSON.parse(readFileSync(join(lost, "cause.json"), "utf8"));
  assert.equal(cause.kind, "stopped");
  assert.ok(spending.calls >= 1);
  assert.ok(readdirSync(lost).some((name) => name.startsWith("attempt-")));
  const again = await at.pipeline(["run", at.name, ...set, "--json", "--root", at.root], { env: keyEnv });
  assert.equal(again.code, 2, "another attempt needs a confirmation");

  const name = basename(folder);
  const resumed = await at.pipeline(["attempts", "resume", name, "--root", at.root], { env: keyEnv });
  assert.equal(resumed.code, 0, resumed.stdout + resumed.stderr);
  const { ledger, read } = recorded(at);
  assert.equal(ledger.resumed, 1);
  assert.equal(read("submission/step4"), "4\n");
  assert.deepEqual(readdirSync(join(at.root, ".mlrb/attempts/lost")), []);
});

it("a quarantined attempt continues by name: after SIGTERM to its supervisor, and after the death of its stage", async (at, t) => {
  const even = await undisturbed(t);
  const served = await patient(t);
  defineLlmAttempt(at, served, { turnsMax: 20 });
  const run = at.start(words(at), { env: keyEnv });
  const name = basename(await afterCalls(at, 1));
  for (const pid of supervisorsIn(at.root)) process.kill(pid, "SIGTERM");
  assert.equal((await run.ended).code, 1);
  const lost = join(at.root, ".mlrb/attempts/lost", name);
  const ended = JSON.parse(readFileSync(join(lost, "out/ledger.json"), "utf8")).ended;
  assert.equal(ended, "interrupted");
  const words2 = ["attempts", "resume", name, "--root", at.root];
  const second = at.start(words2, { env: keyEnv });
  await afterCalls(at, 3);
  for (const pid of stepsIn(at.root)) process.kill(pid, "SIGKILL");
  assert.equal((await second.ended).code, 1);
  const third = await at.start(words2, { env: keyEnv }).ended;
  assert.equal(third.code, 0, third.stdout + third.stderr);
  const { record, ledger, events, folder } = recorded(at);
  assert.equal(digestOf(record), even.digest);
  assert.equal(ledger.resumed, 2);
  assert.equal((await verifyTrajectory(join(folder, "trajectory.jsonl"), ledger.trajectory)).kind, "intact");
  const answers = events.filter(({ event }) => event === "model-call").length;
  assert.ok(served.seen.length <= answers + 2);
});

for (const host of [undefined, "gpu2"])
  it(`an attempt that died ${host ? "with its host" : "under its supervisor"} between its ledger and its end is kept, and no answer is asked again`, async (at, t) => {
    const served = await patient(t, 50);
    defineLlmAttempt(at, served, { turnsMax: 20 });
    const run = at.start(words(at), { env: keyEnv });
    const folder = await afterCalls(at, 1);
    run.child.kill("SIGKILL");
    await run.ended;
    await until("the end", () => attemptProcesses(at.root).length === 0);
    const asked = served.seen.length;
    rmSync(join(folder, "end.json"));
    mkdirSync(join(folder, "attempt-left/sandbox-left/workspace"), { recursive: true });
    if (host) {
      const file = join(folder, "supervisor.json");
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), host }));
    }
    const again = [...words(at), ...(host ? ["--take-over"] : [])];
    const second = await at.start(again, { env: { ...keyEnv, MLRB_LEASE_SILENCE: "700ms" } }).ended;
    assert.equal(second.code, 0, second.stdout + second.stderr);
    assert.equal(served.seen.length, asked);
    assert.equal(recorded(at).ledger.resumed, undefined);
  });

it("a supervisor whose attempt another one has taken over sends nothing more and leaves the other's files alone", async (at, t) => {
  const served = await patient(t, 300);
  defineLlmAttempt(at, served, { turnsMax: 20 });
  const run = at.start(words(at), { env: keyEnv });
  const folder = await afterCalls(at, 1);
  const file = join(folder, "supervisor.json");
  const other = { ...JSON.parse(readFileSync(file, "utf8")), host: "gpu2" };
  rmSync(file);
  writeFileSync(file, JSON.stringify(other));
  const asked = served.seen.length;
  await until("its processes to end", () => supervisorsIn(at.root).length + stepsIn(at.root).length === 0);
  await run.ended;
  assert.ok(served.seen.length <= asked + 1, "at most the call that was about to be sent");
  assert.deepEqual(
    ["end.json", "out/ledger.json", "cause.json"].filter((name) => existsSync(join(folder, name))),
    [],
  );
  assert.equal(JSON.parse(readFileSync(file, "utf8")).host, "gpu2");
  await removeDiskImages(folder);
});

it("an attempt whose task has changed is not continued, and attempts resume fails and says why", async (at, t) => {
  defineLlmAttempt(at, await patient(t), { turnsMax: 20 });
  const first = at.start(words(at), { env: keyEnv });
  const folder = await afterCalls(at, 1);
  await killAll(at, first);
  at.script("prompt.md", "Write something else into submission/. Until {{deadline}}.\n");
  const planned = await at.pipeline(["plan", at.name, "--json", "--root", at.root], { env: keyEnv });
  assert.match(planned.stdout, /"kind":"lost".*it continues only with the inputs/);
  const resume = ["attempts", "resume", basename(folder), "--yes", "--root", at.root];
  const resumed = await at.pipeline(resume, { env: keyEnv });
  assert.notEqual(resumed.code, 0);
  assert.match(resumed.stderr, /^new-attempt: attempt\[task=empty.* would begin anew and be paid again/m);
  assert.match(resumed.stderr, /^not-resumed: attempt\[task=empty.*key has changed/m);
  assert.match(resumed.stderr, /attempts stop/);
  assert.ok(existsSync(folder));
  await removeDiskImages(folder);
});

/** Keeps its conversation in its home, as coding CLIs do, and continues it after a restart. */
const cli = `
import json, os, subprocess, urllib.request
session = os.path.join(os.environ["HOME"], "session.json")
messages = [{"role": "user", "content": open("TASK.md").read()}]
if os.environ.get("MLRB_RESTARTS") and os.path.exists(session):
    messages = json.load(open(session)) + [{"role": "user", "content": open("TASK.md").read().split("[Notice]")[1]}]
while True:
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        json.dumps({"model": "claude-test", "max_tokens": 99, "messages": messages}).encode(),
        {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"})
    text = json.load(urllib.request.urlopen(request, timeout=60))["content"][0]["text"]
    if text == "done":
        break
    subprocess.run(["sh", "-c", text], check=True)
    messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "ok"}]
    json.dump(messages, open(session + ".new", "w"))
    os.rename(session + ".new", session)
`;

it("a coding CLI continues with its workspace and the session in its home, and reads of the restart", async (at, t) => {
  const served = await provider(t, async ({ body }: SeenRequest) => {
    await sleep(100);
    const done = JSON.stringify(body).split('"role":"assistant"').length - 1;
    const text = steps[done] ?? "done";
    return { text, usage: { input: 100, output: 10 } };
  });
  at.script("prompt.md", "Write something into submission/. Until {{deadline}}.\n");
  at.script("program/cli.py", cli);
  const [program, prompt] = [`${at.name}/program`, `${at.name}/prompt.md`];
  const gateway = [{ provider: "anthropic", baseUrl: served.baseUrl, key: keyName, ids: ["claude-test"] }];
  at.define({
    axes: { task: ["empty"], agent: ["model"], seed: [1] },
    stages: {
      data: emptyData,
      attempt: attemptStage({
        params: {
          ...{ kind: "command", command: ["python3", "../program/cli.py"], gateway },
          ...{ secrets: [keyName], program, prompt },
        },
        ...{ files: [`${program}/**`, prompt], secrets: [keyName], budget: { time: "60s" } },
      }),
    },
  });
  const run = at.start(words(at), { env: keyEnv });
  await Promise.race([
    afterCalls(at, 2),
    run.ended.then(({ stdout, stderr }) => assert.fail(stdout + stderr)),
  ]);
  for (const pid of supervisorsIn(at.root)) process.kill(pid, "SIGKILL");
  const said = await run.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, events, read } = recorded(at);
  assert.equal(ledger.resumed, 1);
  assert.deepEqual(
    [1, 2, 3, 4].map((step) => read(`submission/step${step}`)),
    ["1\n", "2\n", "3\n", "4\n"],
  );
  assert.ok(served.seen.length <= steps.length + 2, `${served.seen.length} requests`);
  const last = served.seen.at(-1)!.body as { messages: { content: unknown }[] };
  assert.match(JSON.stringify(last), /The machine was restarted/);
  const numbers = events.filter(({ event }) => event === "model-call").map(({ call }) => call);
  assert.equal(new Set(numbers).size, numbers.length);
});

/** An answer is counted before it is recorded: a kill in between leaves one that is counted, and asked again. */
function checkCalls({ usage, resumed = 0 }: Ledger, answers: number): void {
  const { calls } = usage!;
  assert.ok(
    calls >= answers && calls <= answers + resumed,
    `${calls} calls, ${answers} answers, ${resumed} restarts`,
  );
}

/** All processes of the attempt and its run end at once, as with their host. */
async function killAll(at: Lab, run: Started): Promise<void> {
  run.child.kill("SIGKILL");
  for (let round = 0; round < 3; round++)
    for (const pid of attemptProcesses(at.root))
      try {
        process.kill(pid, "SIGKILL");
      } catch {} // it has just ended
  await run.ended;
  await until("all processes to end", () => attemptProcesses(at.root).length === 0);
}
