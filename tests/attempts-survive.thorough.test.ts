// Attempts of a model under random kills of their supervisors, of their sandboxes and of their host, also with
// their files gone. Every attempt continues and submits what it would have submitted, the tables hold the values,
// n and verdicts of an undisturbed run, and each kill repeats at most one call.
import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import { seededRandom } from "@mlrb/core/statistics/random";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { attemptStage, emptyData } from "./support/attempts/attempt-stages.ts";
import { judgedStages, readReport, smallModel } from "./support/attempts/judged-stages.ts";
import { keyEnv, keyName, provider, shell, submit } from "./support/attempts/llm-attempts.ts";
import { recordsIn } from "./support/end-state.ts";
import { type Lab, lab } from "./support/lab.ts";
import { testEngine } from "./support/machines/docker-engine.ts";
import { attemptProcesses, supervisorsIn, until } from "./support/processes.ts";
import type { LoopbackProvider, SeenRequest } from "./support/providers/loopback-provider.ts";
import type { Started } from "./support/run-program.ts";
import { testSeed } from "./support/test-seed.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const killsWanted = Number(process.env.MLRB_TEST_RESUME_KILLS ?? 6);
const seeds = [1, 2];
/** Of working time, which a restart of a sandbox is, too. Between two restore points is a twentieth. */
const budgetMs = 20_000 + 3_000 * killsWanted;
const budget = `${budgetMs / 1000}s`;

/** How many steps an attempt takes: without end as long as there are kills to come. */
type Length = { steps: number; most: number };

/** Answers by the conversation: the first step whose result it does not hold, and at the end a submission. */
const answer = ({ body }: SeenRequest, length: Length) => {
  const done = (JSON.stringify(body).match(/exit code 0\\nok/g) ?? []).length;
  length.most = Math.max(length.most, done);
  const usage = { input: 100, output: 10 };
  if (done >= length.steps) return { ...submit(), usage };
  const lines = [
    `mkdir -p submission; cd submission; echo ${done} > step${done}`,
    // the value of its score is lower by a lost step
    `echo "{\\"quality\\": $(ls | grep -c step).$MLRB_SEED}" > tokenizer.json`,
    `echo '{}' > config.json; ${smallModel} > model.safetensors`,
  ];
  return { ...shell(`${lines.join("; ")}; sleep 0.3; echo ok`), usage };
};

const rules = [
  { ...{ name: "in-time", title: "In time.", method: "time-within-budget" }, source: "official" },
].map((rule) => ({ ...rule, severity: "disqualify" }));

/** Where sandboxes are. */
type Sandboxes = {
  env: Record<string, string>;
  executor?: "docker";
  /** Kills one from outside; false if there is none. */
  killOne(at: Lab): boolean;
};

async function define(
  t: TestContext,
  at: Lab,
  { length, executor }: { length: Length; executor: Sandboxes["executor"] },
): Promise<LoopbackProvider> {
  const served = await provider(t, async (request) => {
    await sleep(150);
    return answer(request, length);
  });
  at.script("prompt.md", "This is seed {{seed}}. Until {{deadline}}.\n");
  const prompt = `${at.name}/prompt.md`;
  const model = { id: "scripted-1", baseUrl: served.baseUrl, key: keyName, contextTokens: 1_000_000 };
  at.define({
    axes: { task: ["empty"], agent: ["any"], seed: seeds, scorer: ["quality"] },
    stages: {
      data: emptyData,
      ...judgedStages(at, { title: "After kills", budget, rules }),
      attempt: attemptStage({
        each: ["task", "agent", "seed"],
        resources: { cpus: 1 },
        params: {
          ...{ kind: "llm", provider: "loopback", model, scaffold: "react" },
          ...{ secrets: [keyName], prompt },
        },
        ...{ files: [prompt], secrets: [keyName], budget: { time: budget } },
        ...(executor && { executor }),
      }),
    },
  });
  return served;
}

const start = (at: Lab, { env }: Sandboxes): Started =>
  at.start(["run", at.name, "--json", "--yes", "--root", at.root, "--jobs", "4"], {
    env: { ...env, ...keyEnv },
  });

type Kept = { outputs: { submission: { digest: string } }; slot: { stage: string } };

/** Digests of submissions by stage. */
const submissions = (at: Lab) =>
  Object.fromEntries(
    recordsIn(at.root).map(({ record }) => {
      const { slot, outputs } = record as unknown as Kept;
      return [slot.stage, outputs.submission.digest];
    }),
  );

/** What the tables say: values and n of each cell, and of each attempt its scores, its verdict and the rules' answers. */
function judged(at: Lab) {
  const [file, ...more] = globSync(`${at.root}/results/${at.name}/*/report.json`);
  assert.deepEqual(more, []);
  const { cells, attempts } = readReport(dirname(file!));
  return {
    cells,
    attempts: attempts.map(({ seed, scores, verdict }) => ({
      ...{ seed, scores, verdict: verdict.kind },
      rules: verdict.kind === "missing" ? [] : verdict.rules.map(({ rule, answer }) => [rule, answer]),
    })),
  };
}

function kill(pids: number[]): void {
  for (const pid of pids)
    try {
      process.kill(pid, "SIGKILL");
    } catch {} // it has just ended
}

async function killHost(at: Lab, run: Started): Promise<void> {
  run.child.kill("SIGKILL");
  kill(supervisorsIn(at.root)); // first: no supervisor of a dead host sees its stage die
  for (let round = 0; round < 3; round++) kill(attemptProcesses(at.root));
  await run.ended;
  await until("all processes to end", () => attemptProcesses(at.root).length === 0);
}

/** Removes the files of attempts that have a restore point, as a host with a temporary disk does. */
async function emptyDisk(at: Lab): Promise<number> {
  const restorePoints = globSync(`${at.root}/.mlrb/attempts/running/*/restore-points/*.json`);
  const folders = new Set(restorePoints.map((path) => dirname(dirname(path))));
  for (const folder of folders) {
    await removeDiskImages(folder);
    for (const name of readdirSync(folder).filter((one) => one.startsWith("attempt-"))) {
      await removeDiskImages(join(folder, name));
      rmSync(join(folder, name), { recursive: true });
    }
  }
  return folders.size;
}

/** The folders of quarantined attempts. */
function lostIn({ root }: Lab): string[] {
  const folder = join(root, ".mlrb/attempts/lost");
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Why they were quarantined. */
const lostCauses = (at: Lab) =>
  lostIn(at).map((name) => readFileSync(join(at.root, ".mlrb/attempts/lost", name, "cause.json"), "utf8"));

/** Kills a sandbox. Its attempt is quarantined, since a sandbox may have died of what was in it; a person resumes it. */
async function killSandbox(at: Lab, run: Started, sandboxes: Sandboxes): Promise<Started | undefined> {
  if (!sandboxes.killOne(at)) return undefined;
  await until("the end of its attempt", () => lostIn(at).length > 0);
  run.child.kill("SIGKILL");
  await run.ended;
  const words = ["attempts", "resume", ...lostIn(at), "--root", at.root];
  const person = at.start(words, { env: { ...sandboxes.env, ...keyEnv } });
  await Promise.race([
    person.ended.then(({ stdout, stderr }) => Promise.reject(new Error(`not resumed: ${stdout}${stderr}`))),
    until("its supervisor", () => lostIn(at).length === 0 && supervisorsIn(at.root).length === seeds.length),
  ]);
  person.child.kill("SIGKILL");
  await person.ended;
  return start(at, sandboxes);
}

async function survive(t: TestContext, kills: number, sandboxes: Sandboxes): Promise<void> {
  const random = seededRandom(testSeed).fraction;
  const story = [`MLRB_TEST_SEED=${testSeed} draws the same kills`];
  const at = lab(t, repository);
  const length: Length = { steps: Number.POSITIVE_INFINITY, most: 0 };
  const { executor } = sandboxes;
  const served = await define(t, at, { length, executor });
  let run = start(at, sandboxes);
  t.after(() => {
    length.steps = 0; // also of a test that fails: its attempts end
    run.child.kill("SIGKILL");
    kill(attemptProcesses(at.root));
  });
  for (let made = 0; made < kills; ) {
    const answers = served.seen.length;
    await until("a call", () => served.seen.length > answers, 60_000).catch((error: Error) => {
      throw new Error(`${error.message}\n${story.join("\n")}\n${lostCauses(at).join("\n")}`);
    });
    await sleep(900 * random());
    const what = Math.floor(random() * 4);
    if (what === 0) {
      const supervisors = supervisorsIn(at.root).slice(0, 1);
      kill(supervisors);
      if (supervisors.length === 0) continue;
      story.push("supervisor");
    } else if (what === 3) {
      const next = await killSandbox(at, run, sandboxes);
      if (!next) continue;
      run = next;
      story.push("sandbox");
    } else {
      const hasRestorePoint = () =>
        globSync(`${at.root}/.mlrb/attempts/running/*/restore-points/*.json`).length > 0;
      if (what === 2) await until("a restore point", hasRestorePoint, 2_000 + budgetMs / 20).catch(() => {});
      await killHost(at, run);
      story.push(what === 1 ? "host" : `host, with the files of ${await emptyDisk(at)} attempts`);
      run = start(at, sandboxes);
    }
    made++;
  }
  length.steps = length.most + 2;
  let said = await run.ended;
  for (let more = 0; more < 3 && (said.code !== 0 || recordsIn(at.root).length < seeds.length); more++)
    said = await start(at, sandboxes).ended;
  const hint = `${story.join("\n")}\n${said.stdout}${said.stderr}${lostCauses(at).join("\n")}`;
  t.diagnostic(story.join("; "));
  assert.equal(said.code, 0, hint);
  assert.deepEqual(readdirSync(join(at.root, ".mlrb/attempts/running")), [], hint);
  assert.deepEqual(lostIn(at), [], hint);

  const even = lab(t, repository);
  await define(t, even, { length, executor });
  const undisturbed = await start(even, sandboxes).ended;
  assert.equal(undisturbed.code, 0, undisturbed.stdout);
  assert.deepEqual(submissions(at), submissions(even), hint);
  const tables = judged(even);
  assert.deepEqual(
    tables.attempts.map(({ seed, verdict }) => [seed, verdict]),
    seeds.map((seed) => [seed, "pass"]),
    JSON.stringify(tables.attempts),
  );
  assert.deepEqual(judged(at), tables, hint);
  await checkRecords(t, at, { served, kills, hint });
}

const seedOf = (text: string) => Number(/This is seed (\d+)|seed=(\d+)/.exec(text)!.slice(1).find(Boolean));

type Checked = { served: LoopbackProvider; kills: number; hint: string };

/** Intact trajectories, and of each attempt no call without an answer but those that a kill cut off: at most one each. */
async function checkRecords(t: TestContext, at: Lab, { served, kills, hint }: Checked): Promise<void> {
  for (const { digest, record } of recordsIn(at.root)) {
    const folder = join(at.root, ".mlrb/attempts/records", digest);
    const ledger = JSON.parse(readFileSync(join(folder, "ledger.json"), "utf8"));
    assert.equal(ledger.ended, "submitted", hint);
    const restarts = ledger.resumed ?? 0;
    const trajectory = join(folder, "trajectory.jsonl");
    assert.equal((await verifyTrajectory(trajectory, ledger.trajectory)).kind, "intact", hint);
    const answers = readFileSync(trajectory, "utf8").split('"event":"model-call"').length - 1;
    // an answer is counted before it is recorded, and a kill may come in between
    const unrecorded = ledger.usage.calls - answers;
    assert.ok(unrecorded >= 0 && unrecorded <= restarts, `${basename(folder)}: ${hint}`);
    const seed = seedOf((record.slot as { stage: string }).stage);
    const sent = served.seen.filter(({ body }) => seedOf(JSON.stringify(body)) === seed).length;
    const counted = `seed ${seed}: ${sent} calls sent, ${ledger.usage.calls} answers paid, ${restarts} restarts`;
    t.diagnostic(counted);
    assert.ok(sent - ledger.usage.calls <= Math.min(restarts, kills), `${counted}: ${hint}`);
  }
}

const missing = await groupsMissing(["memory"]);

test(`after ${killsWanted} random kills of supervisors, sandboxes and the host every attempt submits and scores what it would have`, {
  skip: missing ?? false,
  timeout: 30 * 60_000,
}, async (t) => {
  await survive(t, killsWanted, {
    env: {},
    killOne(at) {
      const isOfSandbox = (pid: number) => {
        try {
          return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "bwrap";
        } catch {
          return false; // it ended
        }
      };
      const [first] = attemptProcesses(at.root).filter(isOfSandbox);
      if (first !== undefined) kill([first]);
      return first !== undefined;
    },
  });
});

const isAsked = process.env.MLRB_TEST_RESUME_KILLS !== undefined;

test(`after ${killsWanted} random kills every attempt in a container submits and scores what it would have`, {
  skip: !isAsked && "takes minutes more: MLRB_TEST_RESUME_KILLS asks for it",
  timeout: 30 * 60_000,
}, async (t) => {
  const engine = await testEngine();
  if ("skip" in engine) return t.skip(engine.skip);
  t.after(() => engine.stop());
  const env = Object.entries(engine.env).flatMap(([name, value = ""]) =>
    /^DOCKER_|^MLRB_/.test(name) ? [[name, value]] : [],
  );
  await survive(t, killsWanted, {
    ...{ env: Object.fromEntries(env), executor: "docker" },
    killOne() {
      const [id] = engine.docker("ps", "--quiet", "--filter", "label=mlrb.sandbox").stdout.split("\n");
      return Boolean(id) && engine.docker("kill", id!).status === 0;
    },
  });
});
