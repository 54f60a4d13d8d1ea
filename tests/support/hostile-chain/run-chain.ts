// Takes hostile folders through the stages `validate`, `load` and `verdict`, each inside the walls that the runner
// builds.
//   node run-chain.ts CORPUS RESULT
// reads a Corpus from one file, runs it on this machine and writes a ChainResult to the other file.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExecutionRequest, Executor, StageWalls } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import type { Admission } from "@mlrb/formats/judged/admission";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { type HostileCase, writeCase } from "@mlrb/kit/admission/testing/hostile-case";
import { hostileCorpus } from "@mlrb/kit/admission/testing/hostile-corpus";
import { packageFolders } from "@mlrb/kit/files/package-folders";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { readJson } from "@mlrb/kit/json-file";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { pythonPath } from "@mlrb/kit/python-path";
import { localExecutor } from "@mlrb/local/process/local-executor";
import { testPython } from "../../../scorers/testing/submissions.ts";
import { type Bomb, type ChainFolder, readLoads, readResults } from "./chain-results.ts";
import { outsideCases } from "./outside-cases.ts";

const repository = resolve(import.meta.dirname, "../../..");

export type ChainResult = {
  /** Of `validate`, `load` and `verdict`. */
  stages: StageEnd[];
  folders: ChainFolder[];
  bombs: Bomb[];
  /** Outputs and logs that contain a secret. */
  leaks: string[];
  /** Files of the corpus, and the file outside, that a stage changed, added or removed. */
  changed: string[];
};

type StageEnd = {
  result: ExecutionResult;
  /** The end of its log. */
  log: string;
  /** Whether it could see the file outside, and the names of its variables. */
  sight?: { file: boolean; variables: string[] };
};

const secrets = { file: "canary-of-a-file-outside", variable: "canary-of-a-variable" };

/** Folders written once for all ways to run the chain, and the file outside of them that no stage may see. */
export type Corpus = {
  place: string;
  outside: string;
  folders: Pick<ChainFolder, "name" | "codes">[];
  /** Cases that this machine cannot make, with the reason. */
  skipped: Record<string, string>;
};

/** Writes the corpus, or the cases that `take` chooses, below `place`, an empty folder that every user may read. */
export function writeCorpus(place: string, take: () => boolean = () => true): Corpus {
  const outside = join(place, "outside.json");
  const model = { type: "WordLevel", vocab: { [secrets.file]: 0, a: 1 }, unk_token: "a" };
  writeFileSync(outside, JSON.stringify({ version: "1.0", added_tokens: [], model }));
  const corpus: Corpus = { place, outside, folders: [], skipped: {} };
  for (const hostile of [...hostileCorpus, ...outsideCases(outside)].filter(take)) {
    const written = writeCase(join(place, "folders"), hostile);
    if (written.skipped === undefined) corpus.folders.push({ name: hostile.name, codes: hostile.codes });
    else {
      removeFolder(written.folder);
      corpus.skipped[hostile.name] = written.skipped;
    }
  }
  return corpus;
}

/** Takes the corpus through an executor, which `open` makes once the secret variable is set. Only the load gets `bombs`. */
export async function runChain(
  corpus: Corpus,
  open: (place: string) => Executor,
  bombs: HostileCase[] = [],
): Promise<ChainResult> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "hostile-chain-")));
  chmodSync(place, 0o755);
  process.env.MLRB_TEST_SECRET = secrets.variable;
  const executor = open(place);
  try {
    const script = fileURLToPath(new URL("./judge-each.ts", import.meta.url));
    const judges = (step: string): Pick<ExecutionRequest, "run"> => ({
      run: { kind: "command", command: [process.execPath, ...nodeFlags, "--expose-gc", script, step] },
    });
    const before = snapshot(corpus.place);
    const validate = newWork(place, "validate");
    const validated = await stageEnd(executor, { work: validate, corpus }, judges("validate"));
    const load = newWork(place, "load");
    renameSync(join(validate, "out"), join(load, "in/validated"));
    const bombNames = writeBombs(join(load, "in/bombs"), bombs);
    const loaded = await stageEnd(
      executor,
      { work: load, corpus },
      {
        run: { kind: "python", file: relative(repository, join(import.meta.dirname, "load_each.py")) },
        python: testPython(),
        preload: join(repository, "pipelines/environments/ml.preload.py"),
      },
    );
    const judge = newWork(place, "verdict");
    renameSync(join(load, "out"), join(judge, "in/loaded"));
    const judged = await stageEnd(executor, { work: judge, corpus }, judges("verdict"));
    return {
      stages: [validated, loaded, judged],
      folders: readResults(corpus.folders, {
        validated: join(load, "in/validated"),
        loaded: join(judge, "in/loaded"),
        judged: join(judge, "out"),
      }),
      bombs: readLoads(
        join(judge, "in/loaded/bombs"),
        bombNames.map((name): Bomb => ({ name })),
      ),
      leaks: leaksIn(place),
      changed: differences(before, snapshot(corpus.place)),
    };
  } finally {
    await executor.close?.();
    delete process.env.MLRB_TEST_SECRET;
    removeFolder(place);
  }
}

/** Writes each case as `validate` leaves a folder that it admits. Returns the names of those that can be made here. */
function writeBombs(place: string, bombs: HostileCase[]): string[] {
  const admitted: Admission = { formatVersion: 1, admitted: true, reasons: [] };
  return bombs.flatMap((bomb) => {
    const { folder, skipped } = writeCase(place, { ...bomb, name: join(bomb.name, "submission") });
    if (skipped !== undefined) removeFolder(dirname(folder));
    else writeFileSync(join(dirname(folder), "admission.json"), JSON.stringify(admitted));
    return skipped === undefined ? [bomb.name] : [];
  });
}

function newWork(place: string, name: string): string {
  const work = join(place, name);
  for (const part of ["in", "out", "tmp"]) mkdirSync(join(work, part), { recursive: true });
  return work;
}

/** Runs a stage inside walls. It sees its work folder, the checkout's code and its environment. */
async function stageEnd(
  executor: Executor,
  { work, corpus }: { work: string; corpus: Corpus },
  program: Pick<ExecutionRequest, "run" | "python" | "preload">,
): Promise<StageEnd> {
  const token = `mlrb:test:${basename(work)}`;
  const code = ["package.json", "node_modules", "runners", "pipelines", "scorers", "tasks", "tests"];
  const beside = program.python === undefined ? [] : pythonFolders(program.python);
  const log = join(work, "log");
  const walls: StageWalls = {
    ...(process.getuid?.() === 0 && { user: sandboxUser(token) }),
    required: true,
    reads: [
      ...[work, join(corpus.place, "folders"), ...code.map((name) => join(repository, name))],
      ...[...Object.values(packageFolders(repository)).flat(), dirname(process.execPath), ...beside],
    ],
    writes: [join(work, "out"), join(work, "tmp")],
    limits: { memoryBytes: 4 * 2 ** 30, processes: 4096, fileBytes: 2 ** 33 },
  };
  const result = await executor.start({
    id: basename(work),
    key: basename(work),
    token,
    root: repository,
    work,
    log,
    walls,
    network: "none",
    ...{ inputs: {}, outputs: {}, limits: { timeMs: 900_000 }, reads: beside, writes: [], cpus: 1, gpus: [] },
    ...program,
    env: {
      ...{ PATH: process.env.PATH!, HOME: join(work, "tmp"), TMPDIR: join(work, "tmp"), MLRB_WORK: work },
      ...{ MLRB_TEST_FOLDERS: join(corpus.place, "folders"), MLRB_TEST_OUTSIDE: corpus.outside },
      ...{ PYTHONPATH: pythonPath(repository), PYTHONHASHSEED: "0", PYTHONDONTWRITEBYTECODE: "1" },
      OMP_NUM_THREADS: "1",
    },
  }).ended;
  const sight = join(work, "out/sight.json");
  return {
    result,
    log: existsSync(log) ? readFileSync(log, "utf8").slice(-4000) : "",
    ...(existsSync(sight) && { sight: readJson(sight) as NonNullable<StageEnd["sight"]> }),
  };
}

/** The folders of a Python environment: its own, and its interpreter's. */
function pythonFolders(python: string): string[] {
  return [dirname(dirname(python)), dirname(dirname(realpathSync(python)))];
}

/** Every file in `place`, with what shows a change of its bytes. */
function snapshot(place: string): Map<string, string> {
  const found = new Map<string, string>();
  const left = [Buffer.from(place)]; // some names are not UTF-8
  for (let path = left.pop(); path; path = left.pop()) {
    if (path.length > 4000) continue; // no call takes a longer path
    const stats = lstatSync(path);
    found.set(path.toString("latin1"), `${stats.ino} ${stats.size} ${stats.mtimeMs}`);
    if (!stats.isDirectory()) continue;
    for (const name of readdirSync(path, "buffer")) left.push(Buffer.concat([path, Buffer.from("/"), name]));
  }
  return found;
}

function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
}

/** Every output and log of the stages that contains a secret. */
function leaksIn(place: string): string[] {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const bytes = readFileSync(path);
      return Object.values(secrets).some((secret) => bytes.includes(secret));
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [corpus, result] = process.argv.slice(2);
  const ended = await runChain(readJson(corpus!) as Corpus, () => localExecutor(repository));
  writeFileSync(result!, JSON.stringify(ended));
}
