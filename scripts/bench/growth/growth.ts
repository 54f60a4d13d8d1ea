// How time and memory of each step grow: with the stages of a pipeline, the records of attempts, and the events of
// one trajectory. Writes docs/performance/growth.json and its plots.
//   npx -y pnpm@10.34.9 bench --growth           10 014 stages, 10 000 records, 100 000 events  (about eight minutes)
//   npx -y pnpm@10.34.9 bench --growth --only=stages                            (or records, events)
//   npx -y pnpm@10.34.9 bench --growth --huge    100 007 stages, 1 000 000 events               (about half an hour)
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipelineText } from "../graphs.ts";
import { writeRecords } from "../records.ts";
import { type Bench, median, pipelineArguments, repository, type Usage, usage } from "../tools.ts";
import { writeTrajectory } from "../trajectory-steps.ts";
import { drawPlots } from "./growth-plots.ts";
import { type Growth, type GrowthStep, growthWords, type Measured } from "./growth-words.ts";

const tasksOf = [3, 10, 32, 101, 323];
const recordsOf = [10, 100, 1_000, 10_000];
const eventsOf = [1_000, 3_000, 10_000, 30_000, 100_000];
const trajectorySteps = ["verify", "story", "iterations", "page"];
const rounds = 3;

type Against = GrowthStep["against"];
type Growing = Bench & { pipelines: string; huge: boolean; only: string | undefined };

const folder = join(repository, "docs/performance");
const growthFile = join(folder, "growth.json");

/** `pipelines` is the folder for the pipelines' files; `only` one of stages, records and events, else all. */
export async function benchGrowth({ work, pipelines, row, huge, only }: Growing): Promise<void> {
  const isMeasured = (against: Against) => only === undefined || only === against;
  const kept = earlierSteps().filter(({ against }) => !isMeasured(against));
  const steps = new Map<string, GrowthStep>();
  const add: Add = (against, step, size, all) => {
    const { seconds, cpuSeconds, peakBytes } = middle(all);
    const measured: Measured = {
      size,
      seconds: rounded(seconds),
      cpuSeconds: rounded(cpuSeconds),
      peakMiB: Math.round(peakBytes / 2 ** 20),
    };
    const known = steps.get(`${against} ${step}`) ?? { against, step, measured: [] };
    known.measured.push(measured);
    steps.set(`${against} ${step}`, known);
    process.stderr.write(
      `${step}, ${size} ${against}: ${cpuSeconds.toFixed(2)} s, ${measured.peakMiB} MiB\n`,
    );
  };
  // the shortest first, and the plots after each size: an interrupted bench keeps what it measured
  const save = () => savePlots([...kept, ...steps.values()]);
  if (isMeasured("events"))
    for (const events of huge ? [...eventsOf, 1_000_000] : eventsOf) {
      growEvents(events, { work, add });
      save();
    }
  if (isMeasured("records"))
    for (const records of recordsOf) {
      growRecords(records, { work, pipelines, add });
      save();
    }
  if (isMeasured("stages"))
    for (const tasks of huge ? [...tasksOf, 3226] : tasksOf) {
      growStages(tasks, { work, pipelines, add });
      save();
    }
  for (const step of steps.values()) {
    const { exponent, words } = growthWords(step.measured);
    const last = step.measured.at(-1)!;
    row(`growth of ${step.step} with ${step.against}: ${words}`, last.cpuSeconds, {
      against: "linear, as an exponent",
      other: last.cpuSeconds / exponent,
      target: 1.05,
    });
  }
}

function savePlots(steps: GrowthStep[]): void {
  const growth: Growth = { formatVersion: 1, ...machine(), steps };
  mkdirSync(folder, { recursive: true });
  writeFileSync(growthFile, `${JSON.stringify(growth, null, 2)}\n`);
  for (const [name, svg] of drawPlots(growth)) writeFileSync(join(folder, name), svg);
}

function earlierSteps(): GrowthStep[] {
  return existsSync(growthFile) ? (JSON.parse(readFileSync(growthFile, "utf8")) as Growth).steps : [];
}

type Add = (against: Against, step: string, size: number, all: Usage[]) => void;

/** Processor time of the command line, with the programs that it waited for. */
function cli(...words: string[]): Usage {
  return usage(process.execPath, pipelineArguments(words));
}

function repeated(work: (turn: number) => Usage, times = rounds): Usage[] {
  return Array.from({ length: times }, (_, turn) => work(turn));
}

function middle(all: Usage[]): Omit<Usage, "printed"> {
  const of = (field: "seconds" | "cpuSeconds" | "peakBytes") => median(all.map((one) => one[field]));
  return { seconds: of("seconds"), cpuSeconds: of("cpuSeconds"), peakBytes: of("peakBytes") };
}

function growStages(
  tasks: number,
  { work, pipelines, add }: Pick<Growing, "work" | "pipelines"> & { add: Add },
) {
  const name = `bench-growth-${tasks}`;
  const stages = tasks * 31 + 2;
  const [file, root] = [join(pipelines, `${name}.yaml`), join(work, name)];
  const edit = (text: number) => writeFileSync(file, pipelineText(name, tasks, text));
  const run = () => cli("run", file, "--root", root);
  edit(0);
  const cold = cli("run", file, "--root", root, "--json");
  const { cpuMs, peakMemoryBytes } = JSON.parse(cold.printed.trimEnd().split("\n").at(-1)!);
  add("stages", "cold run, the runner's own", stages, [
    { ...cold, cpuSeconds: cpuMs / 1000, peakBytes: peakMemoryBytes },
  ]);
  run();
  add("stages", "no-op", stages, repeated(run));
  const touched = () => {
    const then = new Date(Date.now() - 60_000 * Math.random() - 5000);
    utimesSync(file, then, then);
    return run();
  };
  add("stages", "no-op after a touch", stages, repeated(touched));
  const planned = (turn: number) => {
    edit(100 + turn);
    return cli("plan", file, "--root", root);
  };
  add("stages", "plan after an edit", stages, repeated(planned));
  const edited = (turn: number) => {
    edit(turn + 1);
    return run();
  };
  add("stages", "one edit", stages, repeated(edited));
  rmSync(root, { recursive: true });
}

function growRecords(
  records: number,
  { work, pipelines, add }: Pick<Growing, "work" | "pipelines"> & { add: Add },
) {
  const { file, root } = writeRecords(records, { work, pipelines });
  const words = ["--root", root];
  cli("attempts", "list", ...words); // fills the index
  add(
    "records",
    "status",
    records,
    repeated(() => cli("status", file, ...words)),
  );
  add(
    "records",
    "no-op",
    records,
    repeated(() => cli("run", file, ...words)),
  );
  add(
    "records",
    "attempts list",
    records,
    repeated(() => cli("attempts", "list", ...words)),
  );
  rmSync(root, { recursive: true });
}

function growEvents(events: number, { work, add }: Pick<Growing, "work"> & { add: Add }) {
  const path = join(work, "trajectory.jsonl");
  writeTrajectory(path, events);
  for (const step of trajectorySteps) {
    const script = () => usage(process.execPath, ["scripts/bench/trajectory-steps.ts", step, path]);
    add("events", `${step} of a trajectory`, events, repeated(script));
  }
  rmSync(path);
}

function machine(): { measuredOn: string; machine: string } {
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? process.arch;
  const load = readFileSync("/proc/loadavg", "utf8").split(" ")[0];
  const measuredOn = new Date().toISOString().slice(0, 10);
  return { measuredOn, machine: `${cpu}, Node ${process.version}, load ${load} at the end` };
}

/** To a millisecond. */
function rounded(seconds: number): number {
  return Number(seconds.toFixed(3));
}
