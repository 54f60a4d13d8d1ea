// The answers of a model that does a small piece of research on BabyLM's smoke form: it looks around, plans,
// trains and submits a baseline, tries one change, keeps the better model and submits. Scripted, since tests call
// no model. Its programs run for real, and their output is the same on every machine.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reply } from "../providers/loopback-provider.ts";

const program = readFileSync(join(import.meta.dirname, "train.py"), "utf8");

let calls = 0;
function says(text: string, name: string, input: Record<string, unknown>): Reply {
  return { text, toolCalls: [{ id: `demonstration-${++calls}`, name, input }] };
}

const iteration = (more: Record<string, unknown>) => ({ command: "python train.py", ...more });

export const conversation: Reply[] = [
  says("I read the task and look at the data first.", "shell", {
    command: "head -n 6 TASK.md; ls data; wc -l < data/train.jsonl",
  }),
  says("The plan, so that I do not lose it.", "note", {
    text: "Baseline first, hand it in, then one change at a time: width, then steps. Held out: every tenth text.",
  }),
  says("A training script that holds out every tenth text.", "write_file", {
    path: "train.py",
    text: program,
  }),
  says("A baseline, small and quick: it leaves a valid submission.", "shell", {
    command: "python train.py --steps 40 --width 32 2>/dev/null",
    timeoutSeconds: 180,
  }),
  says("", "iteration", {
    ...iteration({
      id: "baseline",
      parent: null,
      hypothesis: "a tiny GPT-2 learns the common words after seconds",
    }),
    change: "none: width 32, 40 steps",
    metric: { name: "held-out loss", split: "every tenth text", value: 6.1 },
    decision: "keep as the baseline",
  }),
  says("Now wider and longer.", "shell", {
    command: "python train.py --steps 250 --width 64 2>/dev/null",
    timeoutSeconds: 180,
  }),
  says("", "iteration", {
    ...iteration({
      id: "wider",
      parent: "baseline",
      hypothesis: "six times the steps at twice the width learn more",
    }),
    change: "width 64, 250 steps",
    metric: { name: "held-out loss", split: "every tenth text", value: 5.4 },
    decision: "keep: hand in",
  }),
  says("I check that what I hand in loads.", "python", {
    code: [
      "import json, pathlib",
      "from safetensors import safe_open",
      'with safe_open("submission/model.safetensors", "pt") as weights:',
      '    print(len(weights.keys()), "tensors")',
      'print(sorted(path.name for path in pathlib.Path("submission").iterdir()))',
    ].join("\n"),
  }),
  says("It loads. I hand it in.", "submit", {}),
];
