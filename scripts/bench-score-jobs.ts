// Runs scorers' measure.py through the local executor, forked or fresh, as the runner would, with what
// bench_measure.py notes of them.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Executor } from "@mlrb/core/ports/executor";
import { pythonPath } from "@mlrb/kit/python-path";
import { fixtures, measureParams, writeAdmission } from "../scorers/testing/measure.ts";

const repository = join(dirname(fileURLToPath(import.meta.url)), "..");

export const mlLock = "pipelines/environments/ml.lock";

export type Noted = {
  stage: string;
  /** Unix seconds. */
  begun: number;
  computeSeconds: number;
  /** The most beyond what was resident before. */
  heldBytes: number;
  /** Rows and tokens of the largest batch; of a scorer. */
  batch: [number, number];
  /** Of the weights and what else the model keeps; of a batch that was read. */
  modelBytes?: number;
};

type ScoreJob = {
  scorer: string;
  submission: string;
  /** The scorer's fixtures, unless given. */
  private?: string;
  forked: boolean;
  /** What bench_measure.py is told besides. */
  params?: object;
};

export type ScoreJobs = {
  /** Throws when it fails. */
  score(job: ScoreJob): Promise<Noted & { seconds: number; untilBegun: number }>;
  /** What the process that scores are forked from holds. */
  warmBytes(): number;
};

/** `work` gets a folder for each job. */
export function scoreJobs(executor: Executor, { work, python }: { work: string; python: string }): ScoreJobs {
  let count = 0;
  const score = async ({ scorer, submission, forked, params, ...given }: ScoreJob) => {
    const folder = join(work, `job-${++count}`);
    for (const part of ["tmp", "out"]) mkdirSync(join(folder, part), { recursive: true });
    const file = (name: string) => join(folder, name);
    const context = {
      formatVersion: 1,
      stage: scorer,
      axes: {},
      params: {
        ...measureParams(scorer),
        measure: `scorers/${scorer}/measure.py`,
        notes: file("notes"),
        ...params,
      },
      inputs: { submission, private: given.private ?? fixtures(scorer), admission: writeAdmission(folder) },
      outputs: { score: file("out/score.json"), samples: file("out/samples.jsonl") },
      files: ["**"],
      budget: {},
    };
    writeFileSync(file("stage.json"), JSON.stringify(context));
    const started = Date.now() / 1000;
    const begin = performance.now();
    const { ended } = executor.start({
      id: scorer,
      key: scorer,
      reads: [],
      writes: [],
      cpus: 1,
      gpus: [],
      token: `${process.pid}:bench:${count}:`,
      run: { kind: "python", file: "scripts/bench_measure.py" },
      root: repository,
      work: folder,
      python,
      env: {
        PATH: `${dirname(python)}:${process.env.PATH}`,
        HOME: file("tmp"),
        TMPDIR: file("tmp"),
        LANG: "C.UTF-8",
        TZ: "UTC",
        OMP_NUM_THREADS: "1",
        PYTHONHASHSEED: "0",
        PYTHONUNBUFFERED: "1",
        PYTHONDONTWRITEBYTECODE: "1",
        PYTHONPATH: pythonPath(repository),
        MLRB_STAGE: file("stage.json"),
      },
      inputs: {},
      outputs: {},
      log: file("log"),
      limits: {},
      network: "none",
      ...(forked && { preload: join(repository, mlLock.replace(".lock", ".preload.py")) }),
    });
    const result = await ended;
    const seconds = (performance.now() - begin) / 1000;
    const said = existsSync(file("log")) ? readFileSync(file("log"), "utf8") : "";
    if (result.kind !== "succeeded" || said.includes("not forked"))
      throw new Error(`${scorer}: ${JSON.stringify(result)}\n${said}`);
    const [noted] = readNotes(file("notes"));
    return { ...noted!, seconds, untilBegun: noted!.begun - started };
  };
  return { score, warmBytes };
}

function warmBytes(): number {
  const children = ["-o", "rss=,args=", "--ppid", String(process.pid)];
  const lines = execFileSync("ps", children, { encoding: "utf8" }).split("\n");
  return Number.parseInt(lines.find((line) => line.includes("fork_server.py"))!, 10) * 1024;
}

export function readNotes(path: string): Noted[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Noted);
}
