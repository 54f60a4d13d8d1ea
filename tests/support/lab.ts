// A test's own pipeline, scripts and state folder in a shared throw-away repository. Names are unique, so that
// tests of a file cannot reuse each other's results.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import {
  type Line,
  type ProgramOptions,
  type ProgramOutput,
  type Started,
  startProgram,
} from "./run-program.ts";
import type { Repository } from "./throw-away-repository.ts";

type Stage = Record<string, unknown>;

export type PipelineText = {
  axes?: Record<string, unknown>;
  params?: Record<string, unknown>;
  pools?: Record<string, number>;
  profiles?: Record<string, unknown>;
  stages: Record<string, Stage>;
};

export type Lab = {
  /** The name of the pipeline and of its folder of scripts in the repository. */
  name: string;
  repository: Repository;
  /** The folder with `.mlrb/` and `results/`. */
  root: string;
  /** A folder outside the repository and the state, where stages leave messages for the test. */
  outside: string;
  /** Writes pipelines/NAME.yaml. JSON is YAML. */
  define(pipeline: PipelineText): void;
  /** Writes NAME/FILE in the repository and returns that path. */
  script(file: string, text: string): string;
  /** Runs `COMMAND NAME … --json --root ROOT` to its end. */
  run(...args: string[]): Promise<ProgramOutput>;
  plan(...args: string[]): Promise<ProgramOutput>;
  start(args: string[], options?: ProgramOptions): Started;
  /** Runs the command line with the given arguments. */
  pipeline(args: string[], options?: ProgramOptions): Promise<ProgramOutput>;
  /** How often each name was executed; see `counted`. */
  executions(): Record<string, number>;
};

let labs = 0;

export function lab(t: TestContext, repository: Repository, options: { root?: string } = {}): Lab {
  const name = `lab-${process.pid}-${++labs}`;
  const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-lab-")));
  const root = options.root ?? join(above, "root");
  const outside = join(above, "outside");
  mkdirSync(outside);
  t.after(() => removeFolder(above)); // attempts keep folders that only root may remove
  const start: Lab["start"] = (args, more) => startProgram(repository.path, args, more);
  const json = (command: string, args: string[]) =>
    start([command, name, "--json", "--root", root, ...args]).ended;
  return {
    name,
    repository,
    root,
    outside,
    define: (pipeline) =>
      repository.write(
        `pipelines/${name}.yaml`,
        JSON.stringify({ formatVersion: 1, name, ...pipeline }, null, 2),
      ),
    script(file, text) {
      repository.write(`${name}/${file}`, text);
      return `${name}/${file}`;
    },
    run: (...args) => json("run", args),
    plan: (...args) => json("plan", args),
    start,
    pipeline: (args, more) => start(args, more).ended,
    executions() {
      const file = join(outside, "executions");
      const counts: Record<string, number> = {};
      const names = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
      for (const one of names.sort()) counts[one] = (counts[one] ?? 0) + 1;
      return counts;
    },
  };
}

/** A shell line that records its execution for the lab, then runs `then`. */
export function counted({ outside }: Lab, name: string, then = "true"): string {
  return `echo ${name} >> '${join(outside, "executions")}'; ${then}`;
}

/** A shell line that waits for the test: `begun` resolves once it runs, and it ends after `go`. */
export function waiting({ outside }: Lab): { command: string; begun(): Promise<void>; go(): void } {
  const [begun, go] = [join(outside, "begun"), join(outside, "go")];
  return {
    command: `touch '${begun}'; for i in $(seq 600); do test -e '${go}' && break; sleep 0.1; done`,
    async begun() {
      while (!existsSync(begun)) await setTimeout(50);
    },
    go: () => writeFileSync(go, ""),
  };
}

/** Outcome (of a run) or action (of a plan) by stage instance. */
export function outcomes(said: ProgramOutput): Record<string, string> {
  return Object.fromEntries(stageLines(said).map(({ stage, outcome, action }) => [stage, outcome ?? action]));
}

export function reasons(said: ProgramOutput, stage: string): Line[] {
  return lineOf(said, stage).reasons;
}

export function lineOf(said: ProgramOutput, stage: string): Line {
  const found = stageLines(said).find((line) => line.stage === stage);
  if (!found) throw new Error(`no line for ${stage} in:\n${said.stdout}\n${said.stderr}`);
  return found;
}

export function summary(said: ProgramOutput): Line {
  const last = said.lines.at(-1);
  if (last?.event !== "summary") throw new Error(`no summary at the end of:\n${said.stdout}\n${said.stderr}`);
  return last;
}

function stageLines(said: ProgramOutput): Line[] {
  return said.lines.filter(({ event }) => event === "stage");
}

/** Every file below a folder, with its bytes as text; paths are relative and sorted. */
export function filesBelow(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, "latin1")]),
  );
}

/** The published results, by path. */
export function results({ root }: Pick<Lab, "root">): Record<string, string> {
  return filesBelow(join(root, "results"));
}

/** Names of leftovers in `.mlrb/work`, which must be empty. */
export function leftovers({ root }: Pick<Lab, "root">): string[] {
  return readdirSync(join(root, ".mlrb/work"));
}
