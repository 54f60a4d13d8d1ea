// 28 scores of 14 models by `pipeline run`, on a task's smoke data, against their compute on the available cores.
// An earlier run makes the data and the models.
//
// "Compute on the available cores" has two readings, and both are reported. The first sums the time inside
// `measure` of that run, with all cores busy, and divides it by the cores. The second does the same with scores
// measured one at a time. Cores that share memory or a host do less than twice the work of one core, which only
// the first reading includes. Only the second would show a runner that slows the scores down.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { scorerManifest } from "../../scorers/testing/measure.ts";
import { latestEvents } from "./journal.ts";
import { mlLock, type Noted, readNotes } from "./score-jobs.ts";
import { type Bench, pipeline, seconds } from "./tools.ts";

const models = 14;
export const scorersTogether = ["bits-per-byte", "house-pairs"];
export const scoreScript = "scripts/bench/measure.py";
/** The files that a scorer's measure.py may read: the script names it in a parameter, so no import shows them. */
export const scoreFiles = ["scorers/{scorer}/**", "scorers/library/**"];
const rounds = 3;

export type Together = Bench & {
  pipelines: string;
  tokenizer: string;
  python: string;
  /** Seconds of each scorer's compute when it runs alone. */
  alone: Map<string, number>;
};

export async function benchTogether(given: Together): Promise<void> {
  const { work, pipelines, row, tokenizer, python, alone } = given;
  const cores = availableParallelism();
  const scorers = [...alone.keys()];
  const count = models * scorers.length;
  const file = join(pipelines, "bench-scores.yaml");
  const root = join(work, "scores");
  mkdirSync(join(root, ".mlrb"), { recursive: true });
  symlinkSync(dirname(dirname(dirname(python))), join(root, ".mlrb/environments"));
  const cli = ["run", file, "--root", root];
  const write = (round: number) => writeFileSync(file, scoresPipeline({ tokenizer, round, scorers }));
  write(0);
  pipeline(...cli, ...["model", "data", "admission"].flatMap((name) => ["--only", name]));

  const found: { total: number; start: number; compute: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    write(round); // a changed parameter reruns every score
    const total = await seconds(() => pipeline(...cli));
    const { noted, startedAt } = scoresOf(root);
    if (noted.length !== count) throw new Error(`${noted.length} scores ran, not ${count}`);
    const start = Math.min(...noted.map(({ begun }) => begun)) - startedAt;
    const compute = noted.reduce((sum, { computeSeconds }) => sum + computeSeconds, 0) / cores;
    found.push({ total, start, compute });
  }
  const ready = (one: (typeof found)[number]) => (one.total - one.start) / one.compute;
  const { total, start, compute } = found.toSorted((a, b) => ready(a) - ready(b))[found.length >> 1]!;
  const least = ([...alone.values()].reduce((sum, value) => sum + value, 0) * models) / cores;
  const busy = `their compute on ${cores} busy cores, ${compute.toFixed(2)} s`;
  const one = `their compute, each run alone, on ${cores} cores, ${least.toFixed(2)} s`;
  const beyond = `${count} scores, after the warm process is ready`;
  row(beyond, total - start, { against: busy, other: compute, target: 1.3 });
  row(beyond, total - start, { against: one, other: least });
  row(`${count} scores, with its start of ${start.toFixed(1)} s`, total, { against: busy, other: compute });
}

type ScoresPipeline = { tokenizer: string; round: number; scorers: string[]; models?: number };

export function scoresPipeline(given: ScoresPipeline): string {
  const names = Array.from({ length: given.models ?? models }, (_, index) => index);
  const { version, unit, direction } = scorerManifest(given.scorers[0]!);
  return `formatVersion: 1
name: bench-scores
axes: { model: [${names.join(", ")}], scorer: [${given.scorers.join(", ")}] }
stages:
  data:
    script: tasks/baby-lm/data.ts
    params: { source: smoke }
    gives: { public: dir, private: { dir: true, private: true } }
  tokenizer: { command: "cp ${given.tokenizer} {outputs.tokenizer}", gives: { tokenizer: file } }
  model:
    each: [model]
    python: scripts/bench/model.py
    needs: [tokenizer.tokenizer]
    params: { seed: "{model}", width: 128, layers: 2 }
    environment: ${mlLock}
    network: none
    gives: { model: dir }
  admission:
    command: "echo '{\\"formatVersion\\": 1, \\"admitted\\": true, \\"reasons\\": []}' > {outputs.admission}"
    gives: { admission: file }
  score:
    each: [model, scorer]
    python: ${scoreScript}
    files: ${JSON.stringify(scoreFiles)}
    needs: { submission: model.model, private: data.private, admission: admission.admission }
    params: { measure: "scorers/{scorer}/measure.py", round: ${given.round}, version: ${version}, unit: ${unit}, direction: ${direction} }
    environment: ${mlLock}
    network: none
    gives: { score: { file: score.json }, samples: { file: samples.jsonl } }
    resources: { cpus: 1 }
`;
}

/** What the scores of the latest run noted in their logs, and the start of the first one in Unix seconds. */
export function scoresOf(root: string): { noted: Noted[]; startedAt: number } {
  const scores = latestEvents(root).filter(({ stage }) => stage?.startsWith("score["));
  const start = scores.find(({ event }) => event === "start");
  const logs = scores.flatMap(({ event, log }) => (event === "stage" && log !== undefined ? [log] : []));
  return {
    noted: logs.flatMap((log) => readNotes(readFileSync(log, "utf8"))),
    startedAt: Date.parse(start!.time) / 1000,
  };
}
