// What the report stage costs beyond reading: 7 tasks, 4 agents and 5 attempts, each scored on as many items as asked
// for, against a process that reads the same samples and parses them line by line.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import { median, run, type TellRow } from "./bench-tools.ts";

const tasks = Array.from({ length: 7 }, (_, index) => `task-${index}`);
const agents = ["a", "b", "c", "d"];
const seeds = [1, 2, 3, 4, 5];
const scorer = "answers";
const groups = 57;

/** `work` is a folder for everything that is made. */
export function benchReport(items: number, { work, row }: { work: string; row: TellRow }): void {
  const folder = join(work, `report-${items}`);
  const samples = materialize(folder, items);
  const list = join(folder, "samples.txt");
  writeFileSync(list, samples.join("\n"));
  const seconds = (args: string[]) => {
    const begin = performance.now();
    run(process.execPath, args);
    return (performance.now() - begin) / 1000;
  };
  const reading: number[] = [];
  const reporting: number[] = [];
  for (let round = 0; round < 3; round++) {
    reading.push(seconds(["-e", readAll, list]));
    process.env.MLRB_STAGE = join(folder, "stage.json");
    reporting.push(seconds(["pipelines/steps/report.ts"]));
    delete process.env.MLRB_STAGE;
  }
  const other = median(reading);
  row(`report, 7 × 4 × 5 attempts of ${items} items`, median(reporting), {
    against: `reading and parsing its samples, ${other.toFixed(2)} s`,
    other,
    target: 2.5,
  });
}

const readAll = `const { readFileSync } = require("node:fs");
for (const path of readFileSync(process.argv[1], "utf8").split("\\n"))
  readFileSync(path, "utf8").trimEnd().split("\\n").map((line) => JSON.parse(line));`;

/** Lays out what a report stage gets; gives the paths of the samples. */
function materialize(folder: string, items: number): string[] {
  const members: Member[] = [];
  const samples: string[] = [];
  const add = (name: string, axes: Member["axes"], texts: Record<string, unknown>) => {
    const stage = `${name}-${Object.values(axes).join("-")}`;
    mkdirSync(join(folder, stage), { recursive: true });
    const artifacts: Member["artifacts"] = {};
    for (const [artifact, content] of Object.entries(texts)) {
      const path = join(stage, artifact);
      writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
      artifacts[artifact] = { digest: `sha256:${stage}`, kind: "file", path };
      if (artifact === "samples") samples.push(join(folder, path));
    }
    members.push({ stage, name, axes, outcome: "succeeded", cause: "", artifacts });
  };
  const random = drawing();
  for (const task of tasks) {
    for (const agent of agents)
      for (const seed of seeds) {
        const axes = { task, agent, seed };
        const skill = 0.3 + 0.05 * agents.indexOf(agent) + 0.01 * seed;
        add("attempt", axes, { submission: "" });
        add("validate", axes, { verdict: { formatVersion: 1, kind: "pass", rules: [], facts: {} } });
        add("score", { ...axes, scorer }, scored(items, { skill, random }));
      }
    const rows = [{ name: "known", title: "A known model", value: 0.6, standardError: 0.004 }];
    add("anchors", { task, scorer }, { rows: { formatVersion: 1, scorer, rows } });
  }
  const collected: Collected = { formatVersion: 1, members };
  const manifest = join(folder, "manifest.json");
  writeFileSync(manifest, JSON.stringify(collected));
  const report = join(folder, "out");
  mkdirSync(report);
  const context = { stage: "report", axes: {}, params: params(), inputs: { manifest }, outputs: { report } };
  writeFileSync(join(folder, "stage.json"), JSON.stringify({ formatVersion: 1, ...context, budget: {} }));
  return samples;
}

/** Items as a scorer of four-choice questions writes them. */
function scored(items: number, { skill, random }: { skill: number; random: () => number }) {
  const lines = Array.from({ length: items }, (_, index) => {
    const group = `subject_${index % groups}`;
    const choices = [0, 1, 2, 3].map(() => -5 * random());
    return { id: `${group}/${index}`, group, value: random() < skill ? 1 : 0, weight: 1, choices };
  });
  const value = lines.reduce((sum, line) => sum + line.value, 0) / items;
  return {
    score: {
      formatVersion: 1,
      scorer,
      version: 1,
      unit: "accuracy",
      direction: "higher",
      kind: "scored",
      value,
      standardError: Math.sqrt((value * (1 - value)) / items),
      items,
      groups: Object.fromEntries(
        Array.from({ length: groups }, (_, at) => [
          `subject_${at}`,
          { value, items: Math.ceil((items - at) / groups) },
        ]),
      ),
      extra: {},
    },
    samples: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  };
}

function params() {
  const each = <T>(names: string[], value: T) => Object.fromEntries(names.map((name) => [name, value]));
  return {
    title: "Bench",
    label: "bench",
    tasks: each(tasks, "A task"),
    primary: each(tasks, scorer),
    floors: each(tasks, { [scorer]: 0.25 }),
    anchorRows: each(tasks, { [scorer]: "known" }),
    agents: each(agents, "An agent"),
    scorers: { [scorer]: "Answers" },
    units: { [scorer]: "accuracy" },
    directions: { [scorer]: "higher" },
    digits: { [scorer]: 3 },
    ranges: { [scorer]: [0, 1] },
  };
}

/** The same numbers from 0 to 1 every time: Numerical Recipes' linear congruential generator. */
function drawing(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
