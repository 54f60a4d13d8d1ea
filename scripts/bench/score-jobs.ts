// Runs scorers' measure.py through the local executor, forked or fresh, like the runner, and returns the notes of
// measure.py.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ExecutionRequest, Executor, StageWalls } from "@mlrb/core/ports/executor";
import { makeReadable } from "@mlrb/kit/files/give-to";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { pythonPath } from "@mlrb/kit/python-path";
import { fixtures, measureParams, writeAdmission } from "../../scorers/testing/measure.ts";
import { repository } from "./tools.ts";

export const mlLock = "pipelines/environments/ml.lock";

export type Noted = {
  stage: string;
  /** Unix seconds. */
  begun: number;
  computeSeconds: number;
  /** Peak resident memory minus resident memory at the start. */
  heldBytes: number;
  /** Rows and tokens of the scorer's largest batch. */
  batch: [number, number];
  /** Bytes of parameters and buffers, where one batch was read. */
  modelBytes?: number;
};

type ScoreJob = {
  scorer: string;
  submission: string;
  /** By default the scorer's fixtures. */
  private?: string;
  forked: boolean;
  /** Inside the walls of a stage that opens what untrusted code made. */
  walled?: boolean;
  /** More parameters of measure.py. */
  params?: object;
};

export type ScoreJobs = {
  /** Throws when the score fails. */
  score(job: ScoreJob): Promise<Noted & { seconds: number; untilBegun: number }>;
  /** Resident memory of the process that scores are forked from. */
  warmBytes(): number;
};

/** Each job gets a folder in `work`. */
export function scoreJobs(executor: Executor, { work, python }: { work: string; python: string }): ScoreJobs {
  let count = 0;
  const score = async (job: ScoreJob) => {
    const folder = join(work, `job-${++count}`);
    const { scorer } = job;
    const file = (name: string) => join(folder, name);
    for (const part of ["tmp", "out"]) mkdirSync(file(part), { recursive: true });
    writeFileSync(file("stage.json"), JSON.stringify(stageContext(job, folder)));
    const started = Date.now() / 1000;
    const begin = performance.now();
    const result = await executor.start(scoreRequest(job, { folder, python, count })).ended;
    const seconds = (performance.now() - begin) / 1000;
    const log = existsSync(file("log")) ? readFileSync(file("log"), "utf8") : "";
    if (result.kind !== "succeeded" || log.includes("not forked"))
      throw new Error(`${scorer}: ${JSON.stringify(result)}\n${log}`);
    const [noted] = readNotes(log);
    return { ...noted!, seconds, untilBegun: noted!.begun - started };
  };
  return { score, warmBytes };
}

function stageContext({ scorer, submission, params, ...given }: ScoreJob, folder: string) {
  const measure = `scorers/${scorer}/measure.py`;
  return {
    formatVersion: 1,
    stage: scorer,
    axes: {},
    params: { ...measureParams(scorer), measure, ...params },
    inputs: { submission, private: given.private ?? fixtures(scorer), admission: writeAdmission(folder) },
    outputs: { score: join(folder, "out/score.json"), samples: join(folder, "out/samples.jsonl") },
    files: ["**"],
    budget: {},
  };
}

function scoreRequest(
  { scorer, submission, forked, walled = false, ...given }: ScoreJob,
  { folder, python, count }: { folder: string; python: string; count: number },
): ExecutionRequest {
  const token = `${process.pid}:bench:${count}:`;
  return {
    id: scorer,
    key: scorer,
    reads: [],
    writes: [],
    cpus: 1,
    gpus: [],
    token,
    ...(walled && {
      walls: wallsOf([submission, given.private ?? fixtures(scorer)], { folder, python, token }),
    }),
    run: { kind: "python", file: "scripts/bench/measure.py" },
    root: repository,
    work: folder,
    python,
    env: {
      PATH: `${dirname(python)}:${process.env.PATH}`,
      HOME: join(folder, "tmp"),
      TMPDIR: join(folder, "tmp"),
      LANG: "C.UTF-8",
      TZ: "UTC",
      OMP_NUM_THREADS: "1",
      PYTHONHASHSEED: "0",
      PYTHONUNBUFFERED: "1",
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONPATH: pythonPath(repository),
      MLRB_STAGE: join(folder, "stage.json"),
    },
    inputs: {},
    outputs: {},
    log: join(folder, "log"),
    limits: {},
    network: "none",
    ...(forked && { preload: join(repository, mlLock.replace(".lock", ".preload.py")) }),
  };
}

/** Inputs are readable for every user, as those that the runner prepares. */
function wallsOf(
  inputs: string[],
  { folder, python, token }: { folder: string; python: string; token: string },
): StageWalls {
  for (const path of inputs) makeReadable(path);
  const code = ["runners", "scorers", "scripts", "tasks", "pipelines"].map((name) => join(repository, name));
  return {
    ...(process.getuid?.() === 0 && { user: sandboxUser(token) }),
    required: true,
    reads: [...code, ...inputs, dirname(dirname(python)), dirname(dirname(realpathSync(python)))],
    writes: [folder],
    limits: { memoryBytes: 2 ** 32, processes: 4096, fileBytes: 2 ** 30 },
  };
}

function warmBytes(): number {
  const children = ["-o", "rss=,args=", "--ppid", String(process.pid)];
  const lines = execFileSync("ps", children, { encoding: "utf8" }).split("\n");
  return Number.parseInt(lines.find((line) => line.includes("fork_server.py"))!, 10) * 1024;
}

/** `text`: what measure.py printed. */
export function readNotes(text: string): Noted[] {
  const notes = text.matchAll(/^note: (.*)$/gm);
  return [...notes].map(([, note]) => JSON.parse(note!) as Noted);
}
