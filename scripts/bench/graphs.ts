// Runs a graph of the benchmark's shape cold, without work and after one edit, against xargs and ninja. Each task
// has one set-up and ten attempts, validations and scores; there is one report.
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ensureEnvironment } from "../ensure-environment.ts";
import { type Bench, medianSeconds, pipeline, repository, run, seconds, type TellRow } from "./tools.ts";

/** The graph and its two builders; `edit` is the text that the edited task writes. */
type Graph = {
  tasks: number;
  /** Number of instances, as rows print it. */
  size: string;
  file: string;
  build(): string;
  ours(...flags: string[]): string;
  editOurs(edit: number): void;
  editNinja(edit: number): void;
};

/** `pipelines` is the folder for the pipeline's file. */
export async function benchGraph(
  tasks: number,
  { work, pipelines, row }: Bench & { pipelines: string },
): Promise<void> {
  const name = `bench-${tasks}`;
  const instances = tasks * 31 + 1;
  const ninja = join(dirname(await ensureEnvironment("pipelines/environments/tools.lock")), "ninja");
  const [file, root] = [join(pipelines, `${name}.yaml`), join(work, name)];
  const [folder, files] = [join(work, `${name}-ninja`), join(work, `${name}-files`)];
  mkdirSync(folder);
  mkdirSync(files);
  const graph: Graph = {
    tasks,
    size: instances.toLocaleString("en").replace(",", " "),
    file,
    build: () => run(ninja, ["-j2", "--quiet"], folder),
    ours: (...flags) => pipeline("run", file, "--root", root, ...flags),
    editOurs: (edit) => writeFileSync(file, pipelineText(name, tasks, edit)),
    editNinja: (edit) => writeFileSync(join(folder, "build.ninja"), ninjaText(tasks, edit)),
  };
  graph.editOurs(0);
  graph.editNinja(0);
  // the same processes, each writes the file that the stage writes
  const alone = `seq ${instances} | xargs -P2 -I{} sh -c 'echo {} > ${files}/{}'`;
  const processes = await seconds(() => run("sh", ["-c", alone]));
  await benchCold(graph, { instances, processes, row });
  await benchNoOp(graph, row);
  await benchEdit(graph, row);
}

async function benchCold(
  { size, ours, build }: Graph,
  { instances, processes, row }: { instances: number; processes: number; row: TellRow },
): Promise<void> {
  let printed = "";
  const cold = await seconds(() => {
    printed = ours("--json");
  });
  const xargs = `xargs -P2, ${processes.toFixed(2)} s`;
  row(`cold, ${size}`, cold, { against: xargs, other: processes, target: 1.5 });
  const last = printed.trimEnd().split("\n").at(-1)!;
  const { cpuMs, peakMemoryBytes } = JSON.parse(last) as { cpuMs: number; peakMemoryBytes: number };
  const own = `${(cpuMs / instances).toFixed(2)} ms of CPU a stage, ${Math.round(peakMemoryBytes / 2 ** 20)} MiB`;
  const allowed = { against: `1 ms a stage: ${own}`, other: instances / 1000, target: 1 };
  row(`the runner's own, ${size}`, cpuMs / 1000, allowed);
  const other = await seconds(build);
  row(`cold, ${size}`, cold, { against: `ninja, ${other.toFixed(2)} s`, other });
}

async function benchNoOp({ size, tasks, file, ours, build }: Graph, row: TellRow): Promise<void> {
  const same = await medianSeconds(5, () => ours());
  const other = await medianSeconds(5, build);
  const target = tasks > 1000 ? 1 : tasks > 100 ? 1.5 : undefined;
  row(`no-op, ${size}`, same, { against: `ninja, ${other.toFixed(3)} s`, other, target });
  if (tasks <= 100) row(`no-op, ${size}`, same, { against: "the allowed 0.1 s", other: 0.1, target: 1 });
  const touched = await medianSeconds(3, () => {
    const then = () => new Date(Date.now() - 60_000 * Math.random() - 5000);
    utimesSync(file, then(), then());
    ours();
  });
  const touchTarget = tasks > 100 ? 3 : undefined;
  row(`no-op after a touch, ${size}`, touched, {
    against: `ninja, ${other.toFixed(3)} s`,
    other,
    target: touchTarget,
  });
}

async function benchEdit({ size, tasks, ours, build, editOurs, editNinja }: Graph, row: TellRow) {
  const edited = await medianSeconds(3, (turn) => {
    editOurs(turn + 1);
    ours();
  });
  const other = await medianSeconds(3, (turn) => {
    editNinja(turn + 1);
    build();
  });
  row(`one task edited, ${size}`, edited, { against: `ninja, ${other.toFixed(3)} s`, other });
  const allowed = tasks > 100 ? 0.5 : 0.3;
  row(`one task edited, ${size}`, edited, { against: `the allowed ${allowed} s`, other: allowed, target: 1 });
}

const allowedSeconds = 0.25;

/**
 * The time of read-only commands at the size of the whole benchmark (218 instances) and of the official plan, all
 * of which have run but one script. `work` holds the state; `pipelines` gets the pipeline's file.
 */
export async function benchLooking(bench: Bench & { pipelines: string }): Promise<void> {
  for (const tasks of [7, 48]) await benchLookingAt(tasks, bench);
  for (const command of ["list", "check"]) await benchAnswer(`${command}, this repository`, [command], bench);
}

async function benchLookingAt(tasks: number, { work, pipelines, row }: Bench & { pipelines: string }) {
  const name = `bench-looking-${tasks}`;
  const size = `${tasks * 31 + 2} instances`;
  const [file, script] = [join(pipelines, `${name}.yaml`), join(pipelines, `${name}.script.ts`)];
  const folder = join(work, name);
  const root = ["--root", folder];
  const own = `  scripted: { script: ${relative(repository, script)}, gives: { o: file } }\n`;
  const editPipeline = (edit: number) => writeFileSync(file, pipelineText(name, tasks, edit) + own);
  const editScript = (edit: number) => writeFileSync(script, scriptText(edit));
  editPipeline(0);
  editScript(0);
  pipeline("run", file, ...root, "--only", "report", "--json");
  const stage = JSON.parse(pipeline("plan", file, ...root, "--json").split("\n")[0]!).stage;
  await benchAnswer(`status, ${size}`, ["status", file, ...root], { row });
  await benchAnswer(`explain, ${size}`, ["explain", stage, "--pipeline", file, ...root], { row });
  // scripts first: a plan is not stored while its pipeline's file is younger than a second
  for (const [what, edit] of Object.entries({ "a script": editScript, "the pipeline": editPipeline }))
    for (const command of ["plan", "status"]) {
      const seconds = await medianSeconds(5, (turn) => {
        edit(turn + 1);
        pipeline(command, file, ...root);
      });
      const allowed = { against: "the allowed 0.15 s", other: 0.15, target: 1 };
      row(`${command} after an edit of ${what}, ${size}`, seconds, allowed);
    }
  await benchScriptEdit({ file, script, editScript, folder, size }, row);
}

type EditedScript = {
  file: string;
  script: string;
  editScript: (edit: number) => void;
  /** Of the state. */
  folder: string;
  size: string;
};

/** Runs after one script of a graph that has run was edited. Its own process counts apart. */
async function benchScriptEdit({ file, script, editScript, folder, size }: EditedScript, row: TellRow) {
  const runAgain = () => pipeline("run", file, "--root", folder);
  runAgain();
  editScript(-1);
  runAgain(); // stores the plan: its files are older than a second now
  const edited = await medianSeconds(5, (turn) => {
    editScript(turn + 100);
    runAgain();
  });
  const stage = join(folder, "stage.json");
  writeFileSync(stage, JSON.stringify({ outputs: { o: join(folder, "o") } }));
  const own = await medianSeconds(5, () => run("env", [`MLRB_STAGE=${stage}`, process.execPath, script]));
  row(`one script edited, beyond its own process, ${size}`, edited - own, {
    against: `the allowed 0.3 s (its process ${own.toFixed(2)} s)`,
    other: 0.3,
    target: 1,
  });
}

const scriptText = (edit: number) => `import { readFileSync, writeFileSync } from "node:fs";
const { outputs } = JSON.parse(readFileSync(process.env.MLRB_STAGE, "utf8"));
writeFileSync(outputs.o, "${edit}");
`;

async function benchAnswer(what: string, words: string[], { row }: Pick<Bench, "row">): Promise<void> {
  pipeline(...words); // fills the caches that later calls read
  row(what, await medianSeconds(7, () => pipeline(...words)), {
    against: `the allowed ${allowedSeconds} s`,
    other: allowedSeconds,
    target: 1,
  });
}

export function pipelineText(name: string, tasks: number, edit: number): string {
  const works = Array.from({ length: tasks }, (_, index) => `w${index}`).join(", ");
  return `formatVersion: 1
name: ${name}
axes: { work: [${works}], edited: [${edit}], agent: [a, b], seed: [1, 2, 3, 4, 5] }
stages:
  data: { each: [work], command: "echo {work} > {outputs.d}", gives: { d: file } }
  edit: { each: [edited], command: "echo {edited} > {outputs.e}", gives: { e: file } }
  attempt: { each: [work, agent, seed], needs: [data.d], command: "echo {work} {agent} {seed} > {outputs.s}", gives: { s: file } }
  validate: { each: [work, agent, seed], needs: [attempt.s], command: "echo ok {work} {agent} {seed} > {outputs.v}", gives: { v: file } }
  score: { each: [work, agent, seed], needs: [attempt.s, validate.v], command: "echo 1 {work} {agent} {seed} > {outputs.x}", gives: { x: file } }
  report: { collect: [score.x, edit.e], command: "wc -c < {inputs.manifest} > {outputs.r}", gives: { r: file } }
`;
}

function ninjaText(tasks: number, edit: number): string {
  const lines = ["rule run", "  command = sh -c 'echo $say > $out'", "build edit: run", `  say = ${edit}`];
  const scores: string[] = [];
  for (let work = 0; work < tasks; work++) {
    lines.push(`build d${work}: run`, `  say = ${work}`);
    for (let each = 0; each < 10; each++) {
      const id = `${work}-${each}`;
      lines.push(
        `build s${id}: run d${work}`,
        `  say = s${id}`,
        `build v${id}: run s${id}`,
        `  say = v${id}`,
      );
      lines.push(`build x${id}: run s${id} v${id}`, `  say = x${id}`);
      scores.push(`x${id}`);
    }
  }
  lines.push(`build report: run edit ${scores.join(" ")}`, "  say = report", "default report", "");
  return lines.join("\n");
}
