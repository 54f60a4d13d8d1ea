// The cost of a score beyond its compute, which is the time inside the scorer's `measure`: forked from a warm
// process and fresh, its memory, 28 scores in one run (scores-together.ts), and walls (walls.ts). The scorers are
// the repository's; the models have random weights.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { localExecutor } from "@mlrb/local/process/local-executor";
import { ensureEnvironment } from "../ensure-environment.ts";
import { mlLock, type ScoreJobs, scoreJobs } from "./score-jobs.ts";
import { benchTogether, scorersTogether } from "./scores-together.ts";
import { type Bench, median, run, type TellRow } from "./tools.ts";
import { benchSmokeWalls } from "./walls.ts";

const scorers = ["bits-per-byte", "house-pairs", "mmlu"];
const rounds = 3;
/** What walls may add to a forked score. */
const wallsMaxSeconds = 0.3;

type Benched = { jobs: ScoreJobs; row: TellRow };

/** `pipelines` is a folder of the repository for the pipeline's file. */
export async function benchScores(given: Bench & { pipelines: string }): Promise<void> {
  const { work, row } = given;
  const python = await ensureEnvironment(mlLock);
  const data = { public: join(work, "public"), private: join(work, "private") };
  for (const folder of Object.values(data)) mkdirSync(folder);
  const flags = Object.entries(data).map(([name, folder]) => `--output=${name}=${folder}`);
  run(process.execPath, ["tasks/baby-lm/data.ts", "--param=source=smoke", ...flags]);
  const tokenizer = join(work, "tokenizer.json");
  const model = ["scripts/bench/model.py"];
  run(python, [...model, `--input=public=${data.public}`, `--output=tokenizer=${tokenizer}`]);
  const make = (name: string, shape: { width: number; layers: number }) => {
    const folder = join(work, name);
    const params = Object.entries({ seed: 1, ...shape }).map(([key, value]) => `--param=${key}=${value}`);
    run(python, [...model, ...params, `--input=tokenizer=${tokenizer}`, `--output=model=${folder}`]);
    return folder;
  };
  const small = make("small", { width: 128, layers: 2 });
  const large = make("large", { width: 512, layers: 6 });

  const executor = localExecutor(join(import.meta.dirname, "../.."));
  const jobs = scoreJobs(executor, { work, python });
  let alone = new Map<string, number>();
  let addedSeconds = 0;
  try {
    const { untilBegun } = await jobs.score({ scorer: "bits-per-byte", submission: small, forked: true });
    row("warm process ready", untilBegun);
    row("warm process holds", jobs.warmBytes() / 1e6, { unit: "MB" });
    for (const scorer of scorers) await benchForked(scorer, small, { jobs, row });
    addedSeconds = await benchWalls(small, { jobs, row });
    for (const scorer of scorers) await benchHeld(scorer, { small, large }, { jobs, row });
    alone = await computeAlone(small, data.private, jobs);
  } finally {
    executor.close!();
  }
  await ensureEnvironment(mlLock); // the run below would rebuild a changed environment outside this lease
  await benchTogether({ ...given, tokenizer, python, alone });
  await benchSmokeWalls({ work, row, python, addedSeconds });
}

/** Fresh against forked, alternating. */
async function benchForked(scorer: string, submission: string, { jobs, row }: Benched): Promise<void> {
  const fresh: number[] = [];
  const forked: number[] = [];
  const beyond: number[] = [];
  for (let round = 0; round < rounds; round++) {
    fresh.push((await jobs.score({ scorer, submission, forked: false })).seconds);
    for (let twice = 0; twice < 2; twice++) {
      const { seconds, computeSeconds } = await jobs.score({ scorer, submission, forked: true });
      forked.push(seconds);
      beyond.push(seconds - computeSeconds);
    }
  }
  const other = median(forked);
  row(`${scorer}, fresh`, median(fresh), { against: `forked, ${other.toFixed(2)} s`, other });
  const against = "the allowed 1.5 s";
  row(`${scorer}, forked, beyond its compute`, median(beyond), { against, other: 1.5, target: 1 });
}

/** Seconds that the walls of a stage that opens what untrusted code made add to a forked score, alternating. */
async function benchWalls(submission: string, { jobs, row }: Benched): Promise<number> {
  const job = { scorer: scorers[0]!, submission, forked: true };
  await jobs.score({ ...job, walled: true }); // the executor tries walls out once
  const open: number[] = [];
  const walled: number[] = [];
  for (let round = 0; round < 2 * rounds; round++) {
    open.push((await jobs.score(job)).seconds);
    walled.push((await jobs.score({ ...job, walled: true })).seconds);
  }
  const other = median(open) + wallsMaxSeconds;
  const against = `without walls and ${wallsMaxSeconds} s, ${other.toFixed(2)} s`;
  row(`${job.scorer}, forked, inside walls`, median(walled), { against, other, target: 1 });
  return median(walled) - median(open);
}

/** The extra memory for scoring a larger model instead of a small one, against that model and one batch. */
async function benchHeld(
  scorer: string,
  { small, large }: { small: string; large: string },
  { jobs, row }: Benched,
): Promise<void> {
  const more: number[] = [];
  const batches: number[] = [];
  let shape: readonly number[] = [];
  let model = 0;
  for (let round = 0; round < rounds; round++) {
    const least = await jobs.score({ scorer, submission: small, forked: true });
    const scored = await jobs.score({ scorer, submission: large, forked: true });
    shape = scored.batch;
    const read = await jobs.score({ scorer, submission: large, forked: true, params: { batch: shape } });
    more.push((scored.heldBytes - least.heldBytes) / 1e6);
    batches.push(read.heldBytes / 1e6);
    model = read.modelBytes! / 1e6;
  }
  const batch = median(batches);
  const against = `the model, ${model.toFixed(0)} MB, and a batch of ${shape.join(" × ")} tokens, ${batch.toFixed(0)} MB`;
  row(`${scorer} of a larger model holds`, median(more), {
    against,
    other: model + batch,
    target: 1,
    unit: "MB",
  });
}

/** Compute of the two scorers of smoke's data, run alone. */
async function computeAlone(
  submission: string,
  hidden: string,
  { score }: ScoreJobs,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const scorer of scorersTogether) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++)
      times.push((await score({ scorer, submission, private: hidden, forked: true })).computeSeconds);
    found.set(scorer, median(times));
  }
  return found;
}
