// The report stage for 7 tasks, 4 agents and 5 attempts, each scored on the given number of items, against a
// process that only reads the same samples and parses them line by line. With 2 agents and BLiMP's 67 000 items,
// against its limits of time and memory.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Example, scored } from "@mlrb/report/testing/example";
import { type Bench, median, run, seconds } from "./tools.ts";

const tasks = Array.from({ length: 7 }, (_, index) => `task-${index}`);
const seeds = [1, 2, 3, 4, 5];
const scorer = "right";
const groups = 57;

export async function benchReports(bench: Bench): Promise<void> {
  await benchReport(14_042, bench);
  benchLimits(67_000, bench);
}

export async function benchReport(items: number, { work, row }: Bench, rounds = 3): Promise<void> {
  const { stage, list } = writeReportInputs(join(work, `report-${items}`), {
    items,
    agents: ["a", "b", "c", "d"],
  });
  const node = (...args: string[]) => seconds(() => run(process.execPath, args));
  const reading: number[] = [];
  const reporting: number[] = [];
  for (let round = 0; round < rounds; round++) {
    reading.push(await node("-e", readSamples, list));
    process.env.MLRB_STAGE = stage;
    reporting.push(await node("pipelines/steps/report.ts"));
    delete process.env.MLRB_STAGE;
  }
  const other = median(reading);
  row(`report, 7 × 4 × 5 attempts of ${items} items`, median(reporting), {
    against: `reading and parsing its samples, ${other.toFixed(2)} s`,
    other,
    target: 2.5,
  });
}

/** The floor is a process that reads the same bytes and checks that they are UTF-8. */
export function benchLimits(items: number, { work, row }: Bench, rounds = 3): void {
  const { stage, list } = writeReportInputs(join(work, `limits-${items}`), { items, agents: ["a", "b"] });
  const all = Array.from({ length: rounds }, () => ({
    floor: measured(["-e", readBytes, list]),
    report: measured(["pipelines/steps/report.ts"], stage),
  }));
  const of = (who: "floor" | "report", what: keyof Measured) => median(all.map((round) => round[who][what]));
  const name = `report, 7 × 2 × 5 attempts of ${items} items`;
  const limits = { against: `${secondsMax} s`, other: secondsMax, target: 1 };
  row(name, of("report", "seconds"), limits);
  row(`${name}, processor time`, of("report", "processorSeconds"), limits);
  const memory = { against: `${memoryMax} MiB`, other: memoryMax, target: 1, unit: "MiB" } as const;
  row(`${name}, peak memory`, of("report", "peakMiB"), memory);
  row("reading its samples' bytes (floor)", of("floor", "seconds"));
  row("reading its samples' bytes (floor), processor time", of("floor", "processorSeconds"));
  row("reading its samples' bytes (floor), peak memory", of("floor", "peakMiB"), { unit: "MiB" });
}

const secondsMax = 5;
const memoryMax = 500;

type Measured = { seconds: number; processorSeconds: number; peakMiB: number };

/** A run of Node. `stage`: the context of the stage. */
function measured(args: string[], stage = ""): Measured {
  const begin = performance.now();
  process.env.MLRB_STAGE = stage;
  const usage = JSON.parse(run(process.execPath, ["--import", printUsage, ...args]));
  delete process.env.MLRB_STAGE;
  return {
    seconds: (performance.now() - begin) / 1000,
    processorSeconds: (usage.userCPUTime + usage.systemCPUTime) / 1e6,
    peakMiB: usage.maxRSS / 1024,
  };
}

const printUsage =
  'data:text/javascript,process.on("exit",()=>console.log(JSON.stringify(process.resourceUsage())))';

const readBytes = `const { readFileSync } = require("node:fs");
for (const path of readFileSync(process.argv[1], "utf8").split("\\n"))
  if (!require("node:buffer").isUtf8(readFileSync(path))) throw new Error(path);`;

/** A program that reads and parses the samples; its argument is their list. */
export const readSamples = `const { readFileSync } = require("node:fs");
for (const path of readFileSync(process.argv[1], "utf8").split("\\n"))
  readFileSync(path, "utf8").trimEnd().split("\\n").map((line) => JSON.parse(line));`;

/** Writes the inputs of a report stage; returns the paths of its context and of the list of its samples. */
export function writeReportInputs(
  folder: string,
  { items, agents }: { items: number; agents: string[] },
): { stage: string; list: string } {
  const each = <T>(names: string[], value: T) => Object.fromEntries(names.map((name) => [name, value]));
  const example = new Example({
    tasks: each(tasks, "A task"),
    primary: each(tasks, scorer),
    baselines: each(tasks, { [scorer]: 0.25 }),
    referenceRows: each(tasks, { [scorer]: "known" }),
    published: {},
    agents: each(agents, "An agent"),
  });
  const random = drawing();
  const samples: string[] = [];
  for (const task of tasks) {
    for (const agent of agents)
      for (const seed of seeds) {
        const axes = { task, agent, seed };
        const skill = 0.3 + 0.05 * agents.indexOf(agent) + 0.01 * seed;
        example.gives("attempt", axes, { submission: "" });
        example.gives("validate", axes, {
          verdict: { formatVersion: 1, kind: "pass", rules: [], facts: {} },
        });
        example.gives("score", { ...axes, scorer }, scored(scorer, answers(items, { skill, random })));
      }
    const rows = [{ name: "known", title: "A known model", value: 0.6, standardError: 0.004 }];
    example.gives("references", { task, scorer }, { rows: { formatVersion: 1, scorer, rows } });
    for (const [path, text] of example.texts) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text.kind === "ok" ? text.value : "");
      if (path.endsWith("/samples")) samples.push(join(folder, path));
    }
    example.texts.clear(); // those of one task fit into memory
  }
  const manifest = join(folder, "manifest.json");
  writeFileSync(manifest, JSON.stringify(example.collected));
  const report = join(folder, "out");
  mkdirSync(report);
  const paths = { inputs: { manifest }, outputs: { report } };
  const context = { formatVersion: 1, stage: "report", axes: {}, params: example.params, ...paths };
  const [stage, list] = [join(folder, "stage.json"), join(folder, "samples.txt")];
  writeFileSync(stage, JSON.stringify({ ...context, files: [], budget: {} }));
  writeFileSync(list, samples.join("\n"));
  return { stage, list };
}

/** Items as a scorer of four-choice questions writes them. */
function answers(items: number, { skill, random }: { skill: number; random: () => number }) {
  return Array.from({ length: items }, (_, index) => {
    const group = `subject_${index % groups}`;
    const choices = [0, 1, 2, 3].map(() => -5 * random());
    return { id: `${group}/${index}`, group, value: random() < skill ? 1 : 0, weight: 1, choices };
  });
}

/** The same numbers from 0 to 1 every time: Numerical Recipes' linear congruential generator. */
function drawing(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
