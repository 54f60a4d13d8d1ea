// Compares a scorer's score with lm-eval's own command on the same model and data. The command runs in a separate
// process and loads everything itself; only the rows are shared.
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import type { Scored } from "@mlrb/formats/judged/score";
import { pythonPath } from "@mlrb/kit/python-path";
import { measure, readScore } from "./measure.ts";
import { testPython } from "./submissions.ts";

const root = resolve(import.meta.dirname, "../..");

/** Metrics such as `acc,none`, by task or group. */
export type Official = Record<string, Record<string, number>>;

type LmEvalInputs = {
  scorer: string;
  /** The folder under `private`; `repository` is its name in lm-eval's task files. */
  folder: string;
  repository: string;
  /** The scored split comes first. */
  splits: string;
  tasks: string;
  /** Rows by config. */
  rows: Record<string, object[]>;
};

/** The scorer's score and the command's results for a model whose answers depend on its input. */
export function bothScores(given: LmEvalInputs): { ours: Scored; official: Official } {
  const temporary = mkdtempSync(join(tmpdir(), "mlrb-official-"));
  try {
    const data = join(temporary, "private", given.folder);
    for (const [config, rows] of Object.entries(given.rows)) {
      mkdirSync(join(data, config), { recursive: true });
      const file = join(data, config, `${given.splits.split(",")[0]}.jsonl`);
      writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    }
    const submission = join(temporary, "lively");
    const make =
      "import sys, pathlib; from make_submissions import write_tiny; write_tiny(pathlib.Path(sys.argv[1]))";
    python(["-c", make, submission]);
    enliven(join(submission, "model.safetensors"));

    const ran = measure(given.scorer, temporary, { submission, private: join(temporary, "private") });
    if (ran.status !== 0) throw new Error(ran.said);
    const { repository, splits, tasks } = given;
    const flags = Object.entries({ submission, data, repository, splits, tasks, dtype: "float32" });
    const said = python([
      "-m",
      "scorer_library.lm_eval.command",
      ...flags.flatMap(([name, value]) => [`--${name}`, value]),
    ]);
    const ours = readScore(ran.score);
    if (ours.kind !== "scored") throw new Error(ours.reason);
    return { ours, official: JSON.parse(said) as Official };
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** The names of lm-eval's task files in a folder of its `tasks`: `anatomy` for mmlu_anatomy.yaml. */
export function shippedTasks(pattern: string, prefix: string): string[] {
  const library = join(dirname(testPython()), "../lib/python*/site-packages/lm_eval/tasks");
  return globSync(join(library, pattern))
    .map((file) => basename(file, ".yaml"))
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .sort();
}

/** Multiplies the weights by eight: otherwise the tiny model has nearly equal answers for all inputs. */
function enliven(path: string): void {
  const bytes = readFileSync(path);
  const start = 8 + Number(bytes.readBigUInt64LE());
  for (let at = start; at < bytes.length; at += 4) bytes.writeFloatLE(8 * bytes.readFloatLE(at), at);
  writeFileSync(path, bytes);
}

function python(args: string[]): string {
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PYTHONPATH: [pythonPath(root), join(root, "scorers/testing")].join(delimiter),
    PYTHONDONTWRITEBYTECODE: "1",
    OMP_NUM_THREADS: "1",
  };
  return execFileSync(testPython(), args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
