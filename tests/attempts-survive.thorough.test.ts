// Attempts of a model under random kills of their supervisors and of their host, also with their files gone. Every
// attempt continues and submits what it would have submitted; each kill repeats at most one call.
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
import { keyEnv, keyName, provider, shell, submit } from "./support/attempts/llm-attempts.ts";
import { recordsIn } from "./support/end-state.ts";
import { type Lab, lab } from "./support/lab.ts";
import { attemptProcesses, supervisorsIn, until } from "./support/processes.ts";
import type { LoopbackProvider, SeenRequest } from "./support/providers/loopback-provider.ts";
import type { Started } from "./support/run-program.ts";
import { testSeed } from "./support/test-seed.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const missing = await groupsMissing(["memory"]);
const killsWanted = Number(process.env.MLRB_TEST_RESUME_KILLS ?? 6);
const seeds = [1, 2];
const steps = 3 + killsWanted;

/** Answers by the conversation: the first step whose result it does not hold, and at the end a submission. */
const answer = ({ body }: SeenRequest) => {
  const done = (JSON.stringify(body).match(/exit code 0\\nok/g) ?? []).length;
  const usage = { input: 100, output: 10 };
  if (done >= steps) return { ...submit(), usage };
  return {
    ...shell(`mkdir -p submission; echo ${done} > submission/step${done}; sleep 0.3; echo ok`),
    usage,
  };
};

async function define(t: TestContext, at: Lab): Promise<LoopbackProvider> {
  const served = await provider(t, async (request) => {
    await sleep(150);
    return answer(request);
  });
  at.script("prompt.md", "This is seed {{seed}}. Until {{deadline}}.\n");
  const prompt = `${at.name}/prompt.md`;
  const model = { id: "scripted-1", baseUrl: served.baseUrl, key: keyName, contextTokens: 32_000 };
  at.define({
    axes: { task: ["empty"], agent: ["any"], seed: seeds },
    stages: {
      data: emptyData,
      model: attemptStage({
        each: ["task", "agent", "seed"],
        resources: { cpus: 1 },
        params: {
          ...{ kind: "llm", provider: "loopback", model, scaffold: "react" },
          ...{ secrets: [keyName], prompt },
        },
        ...{ files: [prompt], secrets: [keyName], budget: { time: "30s" } },
      }),
    },
  });
  return served;
}

const start = (at: Lab): Started =>
  at.start(["run", at.name, "--json", "--yes", "--root", at.root, "--jobs", "4"], { env: keyEnv });

type Kept = { outputs: { submission: { digest: string } }; slot: { stage: string } };

/** Digests of submissions by stage. */
const submissions = (at: Lab) =>
  Object.fromEntries(
    recordsIn(at.root).map(({ record }) => {
      const { slot, outputs } = record as unknown as Kept;
      return [slot.stage, outputs.submission.digest];
    }),
  );

function kill(pids: number[]): void {
  for (const pid of pids)
    try {
      process.kill(pid, "SIGKILL");
    } catch {} // it has just ended
}

async function killHost(at: Lab, run: Started): Promise<void> {
  run.child.kill("SIGKILL");
  for (let round = 0; round < 3; round++) kill(attemptProcesses(at.root));
  await run.ended;
  await until("all processes to end", () => attemptProcesses(at.root).length === 0);
}

/** Removes the files of attempts that have a checkpoint, as a host with a temporary disk does. */
async function emptyDisk(at: Lab): Promise<number> {
  const checkpoints = globSync(`${at.root}/.mlrb/attempts/running/*/checkpoints/*.json`);
  const folders = new Set(checkpoints.map((path) => dirname(dirname(path))));
  for (const folder of folders) {
    await removeDiskImages(folder);
    for (const name of readdirSync(folder).filter((one) => one.startsWith("attempt-"))) {
      await removeDiskImages(join(folder, name));
      rmSync(join(folder, name), { recursive: true });
    }
  }
  return folders.size;
}

test(`after ${killsWanted} random kills of supervisors and of the host every attempt submits what it would have`, {
  skip: missing ?? false,
  timeout: 20 * 60_000,
}, async (t) => {
  const random = seededRandom(testSeed).fraction;
  const story = [`MLRB_TEST_SEED=${testSeed} draws the same kills`];
  const even = lab(t, repository);
  await define(t, even);
  assert.equal((await start(even).ended).code, 0);

  const at = lab(t, repository);
  const served = await define(t, at);
  let run = start(at);
  for (let kills = 0; kills < killsWanted && recordsIn(at.root).length < seeds.length; kills++) {
    const answers = served.seen.length;
    await until(
      "a call",
      () => served.seen.length > answers || recordsIn(at.root).length === seeds.length,
      60_000,
    );
    await sleep(900 * random());
    const what = Math.floor(random() * 3);
    if (what === 0) {
      const supervisors = supervisorsIn(at.root);
      kill(supervisors.slice(0, 1));
      story.push("supervisor");
      continue;
    }
    const hasCheckpoint = () => globSync(`${at.root}/.mlrb/attempts/running/*/checkpoints/*.json`).length > 0;
    if (what === 2) await until("a checkpoint", hasCheckpoint, 6_000).catch(() => {});
    await killHost(at, run);
    story.push(what === 1 ? "host" : `host, with the files of ${await emptyDisk(at)} attempts`);
    run = start(at);
  }
  let said = await run.ended;
  for (let more = 0; more < 3 && said.code !== 0; more++) said = await start(at).ended;
  const hint = `${story.join("\n")}\n${said.stdout}${said.stderr}`;
  t.diagnostic(story.join("; "));
  assert.equal(said.code, 0, hint);
  assert.deepEqual(readdirSync(join(at.root, ".mlrb/attempts/running")), [], hint);
  assert.ok(!existsSync(join(at.root, ".mlrb/attempts/lost")), hint);
  assert.deepEqual(submissions(at), submissions(even), hint);

  let [paid, restarts] = [0, 0];
  for (const { digest } of recordsIn(at.root)) {
    const folder = join(at.root, ".mlrb/attempts/records", digest);
    const ledger = JSON.parse(readFileSync(join(folder, "ledger.json"), "utf8"));
    paid += ledger.usage.calls;
    restarts += ledger.resumed ?? 0;
    const trajectory = join(folder, "trajectory.jsonl");
    assert.equal((await verifyTrajectory(trajectory, ledger.trajectory)).kind, "intact", hint);
    const answers = readFileSync(trajectory, "utf8").split('"event":"model-call"').length - 1;
    // an answer is counted before it is recorded, and a kill may come in between
    const unrecorded = ledger.usage.calls - answers;
    assert.ok(unrecorded >= 0 && unrecorded <= (ledger.resumed ?? 0), `${basename(folder)}: ${hint}`);
  }
  assert.ok(
    served.seen.length <= paid + restarts,
    `${served.seen.length} sent, ${paid} answers, ${restarts} restarts: ${hint}`,
  );
});
