// A small repository in memory: two tasks, two scorers, two agents and their scripts.
import type { Sources } from "../spec/manifest.ts";

const scorer = (name: string) => `formatVersion: 1
name: ${name}
title: ${name}
version: 1
unit: accuracy
direction: higher
digits: 3
environment: environments/ml.lock
`;

const task = (name: string, scorers: string, primary: string) => `formatVersion: 1
name: ${name}
title: The task ${name}
submission: A model.
scorers: { smoke: [${scorers}], official: [fluency] }
primary: { smoke: ${primary}, official: fluency }
budget: { smoke: { time: 10m }, official: { time: 24h } }
baselines: { smoke: {}, official: { fluency: 0.5 } }
rules: []
`;

export const repository: Record<string, string> = {
  "tasks/reading/task.yaml": task("reading", "accuracy, fluency", "accuracy"),
  "tasks/writing/task.yaml": task("writing", "fluency", "fluency"),
  "scorers/accuracy/scorer.yaml": scorer("accuracy"),
  "scorers/fluency/scorer.yaml": scorer("fluency"),
  "runners/agents/presets/basic.yaml":
    "formatVersion: 1\nname: basic\ntitle: Basic\nkind: command\ncommand: [run]\nprogram: tasks/{task}/scripts\n",
  "runners/agents/presets/idle.yaml": "formatVersion: 1\nname: idle\ntitle: Idle\nkind: nop\n",
  "steps/a.ts": "",
  "steps/b.ts": "",
  "steps/measure.py": "",
  "environments/ml.lock": "",
  "others/ml.lock": "",
};

/** Files as a folder tree, as core reads a repository. */
export function memorySources(files: Record<string, string>): Sources {
  const all = new Map(Object.entries(files));
  return {
    read: (path) => all.get(path),
    kind(path) {
      if (all.has(path)) return "file";
      return [...all.keys()].some((one) => one.startsWith(`${path}/`)) ? "dir" : undefined;
    },
    list(folder) {
      const prefix = folder === "" ? "" : `${folder}/`;
      const inside = [...all.keys()].filter((path) => path.startsWith(prefix));
      return [...new Set(inside.map((path) => path.slice(prefix.length).split("/")[0]!))].sort();
    },
  };
}
