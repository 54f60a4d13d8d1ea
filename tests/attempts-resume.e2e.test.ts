// Attempts that wait for a person to fix what the provider refuses, or for a provider that is down. Paid work
// continues where it stopped, and all views show the cause of the wait.
import assert from "node:assert/strict";
import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import {
  attemptName,
  defineLlmAttempt,
  keyName,
  recorded,
  shell,
  submit,
} from "./support/attempts/llm-attempts.ts";
import { filesBelow, type Lab, lab } from "./support/lab.ts";
import { until } from "./support/processes.ts";
import {
  type Script,
  type SeenRequest,
  startLoopbackProvider,
} from "./support/providers/loopback-provider.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const missing = await groupsMissing(["memory"]);

function it(title: string, body: (at: Lab, t: TestContext) => Promise<void>): void {
  const skip = missing ?? false;
  test(title, { timeout: 120_000, skip }, async (t) => await body(lab(t, repository), t));
}

const [oldKey, newKey] = ["the-key-that-ran-out-1", "the-key-of-a-new-month-2"];
const env = (key: string) => ({ [keyName]: key, TERM: "dumb", COLUMNS: "200" });

const work = [
  shell("mkdir -p submission && echo one > submission/model"),
  shell("echo two >> submission/model"),
  shell("echo three >> submission/model"),
  submit(),
];

it("a paused attempt stops before its next call, shows it everywhere, and continues with resume", async (at, t) => {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  const script: Script = async () => {
    if (asked === 1) await held.promise;
    return work[asked++]!;
  };
  const served = await startLoopbackProvider({ script, key: null });
  t.after(() => served.close());
  defineLlmAttempt(at, served);
  const run = at.start(["run", at.name, "--yes", "--root", at.root], { env: env(oldKey) });
  await until("the second call", () => asked === 1 && served.seen.length === 2);
  const tooSoon = await at.pipeline(["attempts", "pause", "--root", at.root]);
  assert.equal(tooSoon.code, 0, tooSoon.stderr);
  const cancelled = await at.pipeline(["attempts", "resume", "--root", at.root]);
  assert.equal(cancelled.stdout, `${attemptName}: goes on; it had not paused yet\n`);
  const none = await at.pipeline(["attempts", "pause", "attempt[agent=other]", "--root", at.root]);
  assert.equal(none.code, 2, "a pattern that matches no attempt");
  const paused = await at.pipeline(["attempts", "pause", "attempt[agent=mod*]", "--root", at.root]);
  assert.equal(paused.code, 0, paused.stderr);
  assert.match(
    paused.stdout,
    /stops before its next model call; .*\n {2}to continue: pnpm pipeline attempts resume/,
  );
  held.resolve();
  await waitingIn(at);
  assert.equal(served.seen.length, 2, "the call in flight was its last");
  const { stdout } = await at.pipeline(["status", at.name, "--root", at.root]);
  assert.match(
    stdout,
    /waits for you: paused: by `attempts pause`; to continue: pnpm pipeline attempts resume/,
  );
  const unset = await at.pipeline(["attempts", "resume", "", "--root", at.root], { env: env(oldKey) });
  assert.equal(unset.code, 2, "an empty name, as of an unset variable, begins every ID");
  const resume = ["attempts", "resume", "attempt[task=empty]", "--root", at.root];
  const resumed = await at.pipeline(resume, { env: env(oldKey) });
  assert.equal(resumed.code, 0, resumed.stderr);
  const ended = await run.ended;
  assert.equal(ended.code, 0, ended.stderr);
  const { ledger } = recorded(at);
  assert.ok(ledger.waitedMs!.operator! > 0);
  assert.equal(served.seen.length, 4);
});

/** Accepts any key, and after `good` answers only the new one. */
async function wearyProvider(t: TestContext, good: number) {
  let answered = 0;
  const refused: string[] = [];
  const script: Script = ({ headers }: SeenRequest) => {
    const key = headers.authorization ?? "";
    if (answered < good || key.endsWith(newKey)) return work[answered++]!;
    refused.push(key);
    return { status: 401, complaint: "wrong-key" };
  };
  const served = await startLoopbackProvider({ script, key: null });
  t.after(() => served.close());
  return { served, refused, answered: () => answered };
}

const digestOf = (record: unknown) =>
  (record as { outputs: { submission: { digest: string } } }).outputs.submission.digest;

const folderOf = (at: Lab) => {
  const running = join(at.root, ".mlrb/attempts/running");
  const [name] = existsSync(running) ? readdirSync(running) : [];
  return name === undefined ? undefined : join(running, name);
};

const waitingIn = (at: Lab) =>
  until("the attempt to wait", () => {
    const folder = folderOf(at);
    return folder && existsSync(join(folder, "waiting.json")) ? folder : undefined;
  });

it("an attempt whose key is refused waits, and with a new key ends as it would have without the break", async (at, t) => {
  const even = await wearyProvider(t, 99);
  defineLlmAttempt(at, even.served);
  const undisturbed = at.start(["run", at.name, "--json", "--yes", "--root", at.root], { env: env(oldKey) });
  assert.equal((await undisturbed.ended).code, 0);
  const expected = recorded(at);

  const other = lab(t, repository);
  const weary = await wearyProvider(t, 2);
  defineLlmAttempt(other, weary.served);
  const run = other.start(["run", other.name, "--yes", "--root", other.root], { env: env(oldKey) });
  const folder = await waitingIn(other);
  const socket = await until("the socket", () => {
    const path = join(folder, "resume/sock");
    return existsSync(path) ? path : undefined;
  });
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  assert.deepEqual([mode(join(folder, "resume")), mode(socket)], ["700", "600"]);

  const id = folder.split("/").at(-1)!.slice(0, 12);
  const command = `pnpm pipeline attempts resume ${id} --root ${other.root}`;
  const said = /waits for you: wrong-key: 401/;
  const at60 = ["--root", other.root];
  await until("the run to say it", () => run.stderr().includes(command) && said.test(run.stderr()));
  for (const words of [
    ["attempts", "list"],
    ["status", other.name],
    ["log", attemptName],
  ]) {
    const { stdout } = await other.pipeline([...words, ...at60], { env: env(oldKey) });
    assert.match(stdout, said, words.join(" "));
    assert.ok(stdout.includes(command), `${words.join(" ")}: ${stdout}`);
  }

  const resumed = await other.pipeline(["attempts", "resume", id, ...at60], { env: env(newKey) });
  assert.equal(resumed.code, 0, resumed.stderr);
  assert.equal(resumed.stdout, `${attemptName}: tries again now, with this shell's ${keyName}\n`);
  const ended = await run.ended;
  assert.equal(ended.code, 0, ended.stderr);
  const { ledger, events, record } = recorded(other);
  assert.equal(digestOf(record), digestOf(expected.record));
  assert.equal(weary.answered(), 4, "no call is asked twice");
  assert.equal(weary.refused.length, 1, "the old key was tried once");
  assert.ok(ledger.waitedMs!.operator! > 0 && ledger.usage!.calls === 4);
  const digests = (of: typeof events) =>
    of.filter(({ event }) => event === "model-call").map(({ requestDigest }) => requestDigest);
  assert.deepEqual(digests(events), digests(expected.events));
  assert.ok(
    events.some(({ event, why }) => event === "wait" && why === "operator") ||
      ledger.waitedMs!.operator! < 1000,
  );
  for (const [file, text] of Object.entries(filesBelow(join(other.root, ".mlrb"))))
    for (const key of [oldKey, newKey]) assert.ok(!text.includes(key), `${file} holds a key`);
  const shown = ended.stdout + ended.stderr + resumed.stdout + resumed.stderr;
  assert.ok(!shown.includes(newKey) && !shown.includes(oldKey));
});

it("resume without the key set retries with the old key, prints this, and keeps waiting", async (at, t) => {
  const weary = await wearyProvider(t, 1);
  defineLlmAttempt(at, weary.served);
  const run = at.start(["run", at.name, "--yes", "--root", at.root], { env: env(oldKey) });
  await waitingIn(at);
  const asked = () => weary.refused.length;
  const before = asked();
  const resume = ["attempts", "resume", "--root", at.root];
  const same = await at.pipeline(resume, { env: { [keyName]: "" } });
  assert.equal(same.code, 0, same.stderr);
  assert.equal(
    same.stdout,
    `${attemptName}: tries again now, ${keyName} is not set here and keeps its value\n`,
  );
  await until("it to ask again", () => asked() > before);
  await waitingIn(at);
  const mended = await at.pipeline(resume, { env: env(newKey) });
  assert.equal(mended.code, 0, mended.stderr);
  assert.equal((await run.ended).code, 0);
  assert.equal(weary.answered(), 4);
});

/** The one folder in `lost/`, with all files of the attempt. */
async function quarantined(at: Lab): Promise<Record<string, string>> {
  const lost = join(at.root, ".mlrb/attempts/lost");
  const name = await until("the quarantine", () => existsSync(lost) && readdirSync(lost)[0]);
  return filesBelow(join(lost, name));
}

function assertWhole(files: Record<string, string>, cause: RegExp): void {
  const names = Object.keys(files);
  const made = names.find((name) => name.endsWith("workspace/submission/model"));
  assert.equal(made && files[made], "one\ntwo\n", names.join("\n"));
  assert.match(files["out/trajectory.jsonl"] ?? "", /"event":"model-call"/);
  assert.match(files["spending.jsonl"] ?? "", /"calls":2/);
  assert.match(files["cause.json"] ?? "", cause);
}

it("an attempt waits for a person as long as the pipeline allows, then it is quarantined and does not run again", async (at, t) => {
  const weary = await wearyProvider(t, 2);
  defineLlmAttempt(at, weary.served, { attempt: { limits: { operatorWait: "1s" }, retries: 1 } });
  const run = at.start(["run", at.name, "--json", "--yes", "--root", at.root], { env: env(oldKey) });
  const ended = await run.ended;
  assert.equal(ended.code, 1, ended.stderr);
  assert.match(ended.stdout, /"cause":"operator: .*wrong-key/);
  assertWhole(await quarantined(at), /wrong-key/);
  assert.equal(weary.answered(), 2, "it was not begun again");
});

it("run, status, log and list name a provider that is down; after a stop by hand everything is quarantined", async (at, t) => {
  const weary = await wearyProvider(t, 2);
  const { served } = weary;
  defineLlmAttempt(at, served);
  const host = new URL(served.url).host;
  // down from the third call on
  const closing = until("two answers", () => weary.answered() === 2).then(() => served.close());
  const run = at.start(["run", at.name, "--yes", "--root", at.root], { env: env(oldKey) });
  await closing;
  const id = (await waitingIn(at)).split("/").at(-1)!.slice(0, 12);
  const down = new RegExp(`waits for the provider: unreachable: .*ECONNREFUSED ${host}`);
  await until("the run to say it", () => down.test(run.stderr()));
  assert.doesNotMatch(run.stderr(), / left/);
  for (const words of [
    ["attempts", "list"],
    ["status", at.name],
    ["log", attemptName],
  ]) {
    const { stdout } = await at.pipeline([...words, "--root", at.root], { env: env(oldKey) });
    assert.match(stdout, down, words.join(" "));
  }
  const stopped = await at.pipeline(["attempts", "stop", id, "--root", at.root], { env: env(oldKey) });
  assert.equal(stopped.code, 0, stopped.stderr);
  assert.equal((await run.ended).code, 1);
  assertWhole(await quarantined(at), /while it waited: unreachable/);
});

for (const [complaint, where] of [
  ["bad-request", "in pipelines/"],
  ["too-long", "given by path"],
] as const)
  it(`an attempt that ends by ${complaint} in a pipeline ${where} names it everywhere, and the printed command continues it without paying again`, async (at, t) => {
    let answered = 0;
    let refuses = true;
    const script: Script = () => (answered >= 2 && refuses ? { status: 400, complaint } : work[answered++]!);
    const served = await startLoopbackProvider({ script, key: null });
    t.after(() => served.close());
    defineLlmAttempt(at, served);
    const pipeline = where === "given by path" ? `${at.name}/${at.name}.yaml` : at.name;
    if (pipeline !== at.name)
      renameSync(join(repository.path, `pipelines/${at.name}.yaml`), join(repository.path, pipeline));
    const run = at.start(["run", pipeline, "--json", "--yes", "--root", at.root], { env: env(oldKey) });
    const ended = await run.ended;
    assert.equal(ended.code, 1, ended.stderr);
    assertWhole(await quarantined(at), new RegExp(`${complaint}: `));
    const status = await at.pipeline(["status", pipeline, "--root", at.root], { env: env(oldKey) });
    const command = /pnpm pipeline (attempts resume .*--root \S+)/.exec(status.stdout)?.[1];
    for (const words of [
      ["attempts", "list"],
      ["attempts", "list", "--json"],
      ["status", pipeline],
      ["status", pipeline, "--json"],
    ]) {
      const { stdout } = await at.pipeline([...words, "--root", at.root], { env: env(oldKey) });
      assert.match(stdout, new RegExp(`${complaint}: `), words.join(" "));
    }
    assert.ok(command, status.stdout);
    refuses = false;
    const resumed = await at.pipeline(command.split(" "), { env: env(oldKey) });
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.equal(answered, 4, "no call is asked twice");
    assert.equal(recorded(at).ledger.usage!.calls, 4);
  });
