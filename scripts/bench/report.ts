// The report stage for 7 tasks, 4 agents and 5 attempts, each scored on the given number of items, against a process
// that only reads the same samples and parses them line by line.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Example, scored } from "@mlrb/report/testing/example";
import { type Bench, median, run, seconds } from "./tools.ts";

const tasks = Array.from({ length: 7 }, (_, index) => `task-${index}`);
const agents = ["a", "b", "c", "d"];
const seeds = [1, 2, 3, 4, 5];
const scorer = "right";
const groups = 57;

export async function benchReport(items: number, { work, row }: Bench): Promise<void> {
  const { stage, list } = writeReportInputs(join(work, `report-${items}`), items);
  const node = (...args: string[]) => seconds(() => run(process.execPath, args));
  const reading: number[] = [];
  const reporting: number[] = [];
  for (let round = 0; round < 3; round++) {
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

/** A program that reads and parses the samples; its argument is their list. */
export const readSamples = `const { readFileSync } = require("node:fs");
for (const path of readFileSync(process.argv[1], "utf8").split("\\n"))
  readFileSync(path, "utf8").trimEnd().split("\\n").map((line) => JSON.parse(line));`;

/** Writes the inputs of a report stage; returns the paths of its context and of the list of its samples. */
export function writeReportInputs(folder: string, items: number): { stage: string; list: string } {
  const each = <T>(names: string[], value: T) => Object.fromEntries(names.map((name) => [name, value]));
  const example = new Example({
    tasks: each(tasks, "A task"),
    primary: each(tasks, scorer),
    floors: each(tasks, { [scorer]: 0.25 }),
    anchorRows: each(tasks, { [scorer]: "known" }),
    published: {},
    agents: each(agents, "An agent"),
  });
  const random = drawing();
  for (const task of tasks) {
    for (const agent of agents)
      for (const seed of seeds) {
        const axes = { task, agent, seed };
        const skill = 0.3 + 0.05 * agents.indexOf(agent) + 0.01 * seed;
        example.gives("attempt", axes, { submission: "" });
        example.gives("validate", axes, {
          verdict: { formatVersion: 2, kind: "pass", rules: [], facts: {} },
        });
        example.gives("score", { ...axes, scorer }, scored(scorer, answers(items, { skill, random })));
      }
    const rows = [{ name: "known", title: "A known model", value: 0.6, standardError: 0.004 }];
    example.gives("anchors", { task, scorer }, { rows: { formatVersion: 1, scorer, rows } });
  }
  for (const [path, text] of example.texts) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text.kind === "ok" ? text.value : "");
  }
  const manifest = join(folder, "manifest.json");
  writeFileSync(manifest, JSON.stringify(example.collected));
  const report = join(folder, "out");
  mkdirSync(report);
  const paths = { inputs: { manifest }, outputs: { report } };
  const context = { formatVersion: 1, stage: "report", axes: {}, params: example.params, ...paths };
  const [stage, list] = [join(folder, "stage.json"), join(folder, "samples.txt")];
  writeFileSync(stage, JSON.stringify({ ...context, files: [], budget: {} }));
  const samples = [...example.texts.keys()].filter((path) => path.endsWith("/samples"));
  writeFileSync(list, samples.map((path) => join(folder, path)).join("\n"));
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
