// Runs with attempts, killed fifty times at random times (MLRB_TEST_PAID_KILLS: more): the run by every signal, supervisors, spawners,
// stages (also between a provider's answer and the sync of its cost), and with a full disk in between. No attempt
// starts twice without a request, no model call is sent twice except one that a resumed attempt had in flight, and
// the recorded costs contain every call.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@mlrb/core/statistics/random";
import { callsOf, lastSpending } from "@mlrb/kit/attempts/last-spending";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { attemptStage, emptyData } from "./support/attempts/attempt-stages.ts";
import { keyEnv, keyName, provider, shell, submit } from "./support/attempts/llm-attempts.ts";
import { recordsIn } from "./support/end-state.ts";
import { type Lab, lab } from "./support/lab.ts";
import { mountSmallDisk } from "./support/machines/small-disk.ts";
import { attemptProcesses, until } from "./support/processes.ts";
import type { LoopbackProvider, SeenRequest } from "./support/providers/loopback-provider.ts";
import type { ProgramOutput, Started } from "./support/run-program.ts";
import { testSeed } from "./support/test-seed.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const killsWanted = Number(process.env.MLRB_TEST_PAID_KILLS ?? 50);
const limitMs = 5 * 60_000;
const seeds = Math.ceil(killsWanted * 1.4);
const together = 4;
const callsEach = 5;

/** Attempts of a model, five calls long, and of a script that writes for as long; one per seed each. */
function define(at: Lab, served: LoopbackProvider): void {
  at.script("prompt.md", "This is seed {{seed}}. Write something. Until {{deadline}}.\n");
  at.script(
    "program/agent.sh",
    'for i in 1 2 3 4 5 6; do echo $i >> "$MLRB_SUBMISSION/model"; sleep 0.3; done\n',
  );
  const program = `${at.name}/program`;
  const prompt = `${at.name}/prompt.md`;
  const model = {
    id: "scripted-1",
    baseUrl: served.baseUrl,
    key: keyName,
    contextTokens: 32_000,
  };
  const common = attemptStage({
    each: ["task", "seed"],
    retries: 1,
    secrets: [keyName],
    resources: { cpus: 1 },
  });
  const trusted = { trusted: true, prompt };
  at.define({
    axes: { task: ["empty"], agent: ["any"], seed: Array.from({ length: seeds }, (_, index) => index + 1) },
    stages: {
      data: emptyData,
      model: {
        ...common,
        each: ["task", "agent", "seed"],
        params: {
          kind: "llm",
          provider: "loopback",
          model,
          scaffold: "react",
          secrets: [keyName],
          ...trusted,
        },
        files: [prompt],
      },
      script: {
        ...common,
        each: ["task", "agent", "seed"],
        params: { kind: "command", command: ["sh", "./agent.sh"], program, ...trusted },
        files: [`${program}/**`, prompt],
      },
    },
  });
}

/** What its folder records, for a message: who started it and how it ended, without its inputs. */
function tell({ stage, path }: { stage: string; path: string }): string {
  const files = ["attempt.json", "cause.json", "end.json", "record.json"].filter((name) =>
    existsSync(join(path, name)),
  );
  const said = files.map((name) => {
    const {
      run,
      by,
      startedAt,
      finishedAt,
      attempt,
      formatVersion: _,
      ...rest
    } = JSON.parse(readFileSync(join(path, name), "utf8"));
    const ended = name === "cause.json" || name === "end.json" ? rest : {};
    return `${name}: ${JSON.stringify({ run, by, startedAt, finishedAt, attempt, ...ended })}`;
  });
  return [stage, path, ...said].join("\n");
}

/** What the journals say of a stage, for a message. */
function journalOf(at: Lab, stage: string): string[] {
  return globSync(`${at.root}/.mlrb/journals/*.jsonl`)
    .sort()
    .flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .map((line) => `${basename(file)}: ${line}`),
    )
    .filter((line) => line.includes(`"${stage}"`));
}

const stageOf = (seed: number) => `${seed % 3 === 0 ? "script" : "model"}[task=empty,agent=any,seed=${seed}]`;
const seedOf = (stage: string) => Number(/seed=(\d+)/.exec(stage)?.[1]);
const seedAsked = ({ body }: SeenRequest) => Number(/This is seed (\d+)/.exec(JSON.stringify(body))?.[1]);

type Attempt = { stage: string; path: string; where: "running" | "lost" };

function attemptsIn(at: Lab, where: Attempt["where"]): Attempt[] {
  return globSync(`${at.root}/.mlrb/attempts/${where}/*/attempt.json`).flatMap((file) => {
    try {
      const { slot } = JSON.parse(readFileSync(file, "utf8"));
      return [{ stage: slot.stage as string, path: file.slice(0, -"/attempt.json".length), where }];
    } catch {
      return []; // it was moved meanwhile
    }
  });
}

/** Processes of one attempt, by kind. */
function processesOf({ path }: Attempt): {
  supervisor?: number;
  spawner?: number;
  stage?: number;
  all: number[];
} {
  const all = attemptProcesses(path.slice(0, path.indexOf("/.mlrb/"))).filter((pid) =>
    [textOf(pid, "cmdline"), textOf(pid, "environ")].some((text) => text.includes(path)),
  );
  const supervisor = all.find((pid) => textOf(pid, "cmdline").includes("supervisor.ts"));
  const children = supervisor ? childrenOf(supervisor) : [];
  const spawner = children.find((pid) => textOf(pid, "cmdline").includes("spawner.py"));
  const stage = spawner && childrenOf(spawner)[0];
  return { ...(supervisor && { supervisor }), ...(spawner && { spawner }), ...(stage && { stage }), all };
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

const childrenOf = (pid: number) =>
  textOf(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);

function send(pid: number | undefined, signal: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(pid, signal);
  } catch {
    return false; // it has just ended
  }
}

/** A lab on its own file system, so that it can be filled; without the right to mount, on any. */
function mountedLab(t: TestContext): { at: Lab; fill?: () => Promise<void> } {
  const { root, trouble } = mountSmallDisk(t, "96m");
  const at = lab(t, repository, { root });
  if (trouble !== undefined) return { at };
  const file = join(root, "fill");
  return {
    at,
    async fill() {
      spawnSync("dd", ["if=/dev/zero", `of=${file}`, "bs=65536"]);
      spawnSync("dd", ["if=/dev/zero", `of=${file}`, "bs=512", "oflag=append", "conv=notrunc"]);
      await sleep(700);
      rmSync(file);
    },
  };
}

test("after fifty random kills no attempt starts twice, no call is sent twice but those in flight at a resume, and the costs contain every call", {
  skip: process.platform === "linux" ? false : "processes can be found on Linux only",
  timeout: 20 * 60_000,
}, async (t) => {
  const random = seededRandom(testSeed).fraction;
  const story = [`MLRB_TEST_SEED=${testSeed} draws the same kills`];
  const { at, fill } = mountedLab(t);
  /** Kills the stage whose call is being answered, after so many ms. */
  let ambush: number | undefined;
  let ambushed = 0;
  const served = await provider(t, async (request) => {
    const answers = JSON.stringify(request.body).split('"role":"assistant"').length - 1;
    await sleep(150 + 200 * random());
    if (ambush !== undefined) {
      const stage = attemptsIn(at, "running").find((one) => seedOf(one.stage) === seedAsked(request));
      const pid = stage && processesOf(stage).stage;
      if (pid !== undefined) setTimeout(() => send(pid, "SIGKILL"), ambush);
      if (pid !== undefined) {
        hit.add(seedAsked(request));
        killed.add(seedAsked(request));
        ambushed++;
      }
      ambush = undefined;
    }
    return answers < callsEach - 1 ? shell(`echo ${answers} >> submission/model`) : submit();
  });
  define(at, served);

  const begun = new Set<number>();
  const over = () =>
    new Set([
      ...recordsIn(at.root).map(({ record }) => seedOf((record.slot as { stage: string }).stage)),
      ...attemptsIn(at, "lost").map(({ stage }) => seedOf(stage)),
    ]);
  let next = 1;
  /** Attempts that a kill has hit: the end shows whether they are lost. */
  const hit = new Set<number>();
  /** Of these, killed outright or without disk: it may not be sealed, although it was asked to end. */
  const killed = new Set<number>();
  /** Continues running attempts, and starts others, up to four together. Lost ones are not requested again. */
  const start = (): Started => {
    const done = over();
    for (const seed of done) begun.delete(seed);
    for (const seed of hit) begun.delete(seed); // a run records or quarantines them without a request
    while (begun.size < together && next <= seeds) begun.add(next++);
    const only = (begun.size > 0 ? [...begun].map(stageOf) : ["data"]).flatMap((one) => ["--only", one]);
    const args = ["run", at.name, "--json", "--root", at.root, "--jobs", String(together), "--yes", ...only];
    return at.start(args, { env: keyEnv });
  };

  const said: ProgramOutput[] = [];
  const until_ = Date.now() + limitMs;
  let kills = 0;
  let run = start();
  const again = async () => {
    said.push(await run.ended);
    run = start();
  };
  while (kills < killsWanted && Date.now() < until_) {
    await Promise.race([run.ended, sleep(200 + 900 * random())]);
    if (run.child.exitCode !== null || run.child.signalCode !== null) {
      await again();
      continue;
    }
    const going = attemptsIn(at, "running").filter(({ path }) => existsSync(join(path, "supervisor.json")));
    const one = going[Math.floor(random() * going.length)];
    const of = one ? processesOf(one) : { all: [] };
    const what = Math.floor(random() * 20);
    if (what >= 8 && what < 15 && one) hit.add(seedOf(one.stage));
    if (what >= 8 && what < 15 && one && (what < 10 || what >= 12)) killed.add(seedOf(one.stage));
    if (what < 8) {
      const signal = (["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const)[what % 4]!;
      if (!send(run.child.pid, signal)) continue;
      story.push(`run: ${signal}`);
      // a person who waits for no second one
      if (signal === "SIGINT")
        await Promise.race([run.ended, sleep(400)]).then(() => run.child.kill("SIGKILL"));
      await again();
    } else if (what < 10 && of.supervisor && send(of.supervisor, "SIGKILL"))
      story.push(`supervisor of ${one!.stage}`);
    else if (what < 12 && of.supervisor) {
      for (const pid of of.all) send(pid, "SIGTERM");
      story.push(`SIGTERM to all of ${one!.stage}`);
    } else if (what < 14 && send(of.spawner, "SIGKILL")) story.push(`spawner of ${one!.stage}`);
    else if (what < 15 && send(of.stage, "SIGKILL")) story.push(`stage of ${one!.stage}`);
    else if (what < 18 && ambush === undefined) {
      ambush = 3 * random();
      await Promise.race([
        until("a call to be answered", () => ambush === undefined, 4_000).catch(() => {}),
        run.ended,
      ]);
      if (ambush !== undefined) {
        ambush = undefined;
        continue;
      }
      story.push("stage as its model answers");
    } else if (what >= 18 && fill && going.length > 0) {
      const mark = () => {
        for (const { stage } of attemptsIn(at, "running")) {
          hit.add(seedOf(stage));
          killed.add(seedOf(stage));
        }
      };
      mark();
      await fill();
      mark();
      story.push("full disk");
    } else continue;
    kills++;
  }
  said.push(await run.ended);
  for (let tries = 0; tries < 5 && attemptsIn(at, "running").length > 0; tries++) {
    next = seeds + 1; // nothing new: running attempts continue, also broken off ones; ended ones are recorded
    await until("attempts that were hit to end", () =>
      attemptsIn(at, "running").every(
        (one) => !hit.has(seedOf(one.stage)) || processesOf(one).supervisor === undefined,
      ),
    );
    hit.clear();
    for (const { stage } of attemptsIn(at, "running"))
      if (stage.startsWith("model")) begun.add(seedOf(stage));
    run = start();
    said.push(await run.ended);
  }

  const hint = `${story.join("\n")}\n${said.at(-1)!.stdout}${said.at(-1)!.stderr}`;
  t.diagnostic(
    `${kills} kills, ${ambushed} of them as a model answered; ${recordsIn(at.root).length} records, ${attemptsIn(at, "lost").length} quarantined`,
  );
  assert.equal(attemptsIn(at, "running").length, 0, hint);
  assert.deepEqual(attemptProcesses(at.root), [], hint);
  for (const { stdout, stderr } of said)
    assert.doesNotMatch(stdout + stderr, /^\s+at .*\.ts:|This is a bug in mlrb/m, hint);

  // none started twice
  const kept = recordsIn(at.root).map(({ digest, record }) => ({
    stage: (record.slot as { stage: string }).stage,
    path: join(at.root, ".mlrb/attempts/records", digest),
    calls: undefined as number | undefined,
  }));
  const lost = attemptsIn(at, "lost");
  const all = [...kept, ...lost];
  const twice = all.filter((one) => all.some((other) => other !== one && other.stage === one.stage));
  const journal = twice.flatMap(({ stage }) => journalOf(at, stage));
  assert.deepEqual(twice.map(tell), [], [hint, ...journal].join("\n"));

  // no call was sent twice, and every call is in the costs
  const asked = served.seen.map(
    (request) => `${seedAsked(request)}: ${JSON.stringify(request.body).split('"role":"assistant"').length}`,
  );
  /** By seed: how often its attempt was resumed, by its ledger or its trajectory. */
  const resumes = new Map(
    all.map(({ stage, path }) => {
      const file = [join(path, "trajectory.jsonl"), join(path, "out/trajectory.jsonl")].find(existsSync);
      const text = file === undefined ? "" : readFileSync(file, "utf8");
      return [seedOf(stage), text.split('"event":"resumed"').length - 1];
    }),
  );
  const twiceAsked = asked.filter((one, index) => asked.indexOf(one) !== index);
  for (const [seed, again] of Map.groupBy(twiceAsked, (one) => Number.parseInt(one, 10)))
    assert.ok(again.length <= (resumes.get(seed) ?? 0), `${again.join(", ")}\n${hint}`);
  const askedOf = (stage: string) =>
    served.seen.filter((request) => seedAsked(request) === seedOf(stage)).length;
  for (const { stage, path } of kept.filter((one) => one.stage.startsWith("model"))) {
    const { usage } = JSON.parse(readFileSync(join(path, "ledger.json"), "utf8"));
    const inFlight = askedOf(stage) - usage.calls;
    const most = Math.min(resumes.get(seedOf(stage)) ?? 0, usage.failedTries);
    assert.ok(inFlight >= 0 && inFlight <= most, `${stage}: ${inFlight} in flight\n${hint}`);
  }
  for (const { stage, path } of lost) {
    const { cause, spending } = JSON.parse(readFileSync(join(path, "cause.json"), "utf8"));
    const places = `${stage}, ${cause.kind}: ${cause.detail}\n${hint}`;
    assert.ok(["terminated", "supervisor-lost", "failed", "disk-full"].includes(cause.kind), places);
    if (stage.startsWith("model")) {
      const billed = spending === null ? 0 : callsOf(spending);
      const sent = askedOf(stage);
      // one may have been recorded and not sent yet, also at each resume
      const unsent = 1 + (resumes.get(seedOf(stage)) ?? 0);
      assert.ok(billed >= sent && billed <= sent + unsent, `${billed} billed, ${sent} sent: ${places}`);
      assert.deepEqual(spending && callsOf(lastSpending(join(path, "spending.jsonl"))!), spending && billed);
    }
    const file = join(path, "out/trajectory.jsonl");
    if (!existsSync(file)) continue;
    const checked = await verifyTrajectory(file);
    if (checked.kind === "broken") assert.match(checked.reason, /cut off in the middle|no lines/, places);
    if (cause.kind === "terminated" && !killed.has(seedOf(stage)))
      assert.ok(existsSync(join(path, "out/ledger.json")), places);
  }

  // without a person's request, no lost attempt that may cost starts again; a script's earlier ones cost nothing
  const before = served.seen.length;
  const paid = lost.find(({ stage }) => stage.startsWith("model"));
  if (paid !== undefined) {
    const again = ["run", at.name, "--json", "--root", at.root, "--only", paid.stage];
    const refused = await at.pipeline(again, { env: keyEnv });
    assert.equal(refused.code, 2, refused.stdout + refused.stderr);
    assert.equal(served.seen.length, before);
  }
  assert.deepEqual(readdirSync(join(at.root, ".mlrb/attempts/running")), [], hint);
});
