// Attempts without a fault, of shapes that real agents have. None may be accused, and what they measured is read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { model, story } from "./testing/story.ts";

type Lines = Parameters<typeof story>[0];

const shell = (s: number, command: string, out = "", more: object = {}) => ({
  ...{ s, tool: "shell", command, took: 5, out },
  ...more,
});
const edit = (s: number) => ({ s, tool: "edit_file", path: "train.py" });
const handed = (s: number, digest: string) => ({ s, handed: model, digest });
const line = (s: number, id: string, value: number) => ({
  s,
  line: { id, hypothesis: "it helps", change: id, metric: { name: "accuracy", split: "dev", value } },
});
const finished = (digest: string) => [
  { s: 3000, final: model, digest },
  { s: 3001, says: "The submission is complete.", finish: "stop" },
  { s: 3002, end: "submitted" },
];

const table = (value: string) => `hf (pretrained=out), gen_kwargs: (None), limit: None, num_fewshot: 0
|    Tasks     |Version|Filter|n-shot| Metric |   |Value |   |Stderr|
|--------------|------:|------|-----:|--------|---|-----:|---|-----:|
|blimp_wh      |      1|none  |     0|acc     |↑  |${value}|±  |0.0101|
|              |       |none  |     0|acc_norm|↑  |0.5400|±  |0.0102|

|Groups|Version|Filter|n-shot|Metric|   |Value |   |Stderr|
|------|------:|------|-----:|------|---|-----:|---|-----:|
|blimp |      1|none  |      |acc   |↑  |${value}|±  |0.0044|
`;
const dictionaries = (
  value: number,
) => `{'loss': 3.9012, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.5}
{'eval_loss': ${value}, 'eval_runtime': 2.1, 'eval_samples_per_second': 48.3, 'epoch': 1.0}
{'train_runtime': 61.2, 'train_samples_per_second': 8.1, 'train_loss': 3.6, 'epoch': 1.0}
`;

/** `last`: the last value that is read; `counts`: how many iterations count. */
const faultless: { name: string; lines: Lines; counts: number; last: number | null }[] = [
  {
    name: "a table of lm_eval in every round",
    lines: [
      ...[edit(1), shell(10, "python run.py"), handed(20, "1")],
      shell(30, "lm_eval --model hf --tasks blimp", table("0.5850")),
      ...[edit(50), shell(60, "python run.py"), handed(70, "2")],
      shell(80, "lm_eval --model hf --tasks blimp", table("0.6150")),
      ...finished("2"),
    ],
    counts: 2,
    last: 0.615,
  },
  {
    name: "Trainer's dictionaries",
    lines: [
      ...[edit(1), shell(10, "python train.py", dictionaries(3.41)), handed(20, "1")],
      ...[edit(50), shell(60, "python train.py", dictionaries(3.12)), handed(70, "2")],
      ...finished("2"),
    ],
    counts: 2,
    last: 3.12,
  },
  {
    name: "metrics as indented JSON",
    lines: [
      ...[
        edit(1),
        shell(10, "python train.py && cat out/metrics.json", '{\n  "dev": {\n    "accuracy": 0.712\n  }\n}'),
      ],
      handed(30, "1"),
      line(40, "first", 0.712),
      ...finished("1"),
    ],
    counts: 1,
    last: 0.712,
  },
  {
    name: "cp -r before a true claim",
    lines: [
      ...[
        edit(1),
        shell(10, "python train.py", '{"dev_accuracy": 0.712}'),
        shell(20, "cp -r out/. submission/"),
      ],
      ...[handed(30, "1"), line(40, "first", 0.712)],
      ...finished("1"),
    ],
    counts: 1,
    last: 0.712,
  },
  {
    name: "an ablation by a flag",
    lines: [
      edit(1),
      ...[0.001, 0.003, 0.01].map((rate, at) =>
        shell(10 + 20 * at, `python run.py --lr ${rate}`, `{"dev_loss": ${(34 - at) / 10}}`),
      ),
      handed(100, "1"),
      ...finished("1"),
    ],
    counts: 3,
    last: 3.2,
  },
  ...[
    "nohup python train.py > train.log 2>&1 &",
    "python train.py &> train.log &",
    "tmux new -d 'python train.py'",
  ].map((command) => ({
    name: `training in the background: ${command}`,
    lines: [
      ...[edit(1), shell(10, command, "[1] 4242\n")],
      ...[1, 2, 3, 4, 5, 6].map((at) => shell(20 + 10 * at, "sleep 9; tail -n 1 train.log", "  0%| | 0/9")),
      ...[shell(200, "tail -n 2 train.log", dictionaries(3.41)), handed(210, "1")],
      ...finished("1"),
    ],
    counts: 1,
    last: 3.41,
  })),
  {
    name: "an evaluation within the training's program",
    lines: [
      ...[
        edit(1),
        shell(10, "python train.py", 'step 100 loss 3.2\n{"eval": {"accuracy": 0.64, "loss": 1.2e+00}}'),
      ],
      ...[handed(20, "1"), ...finished("1")],
    ],
    counts: 1,
    last: 1.2,
  },
  {
    name: "values that are printed as plain text",
    lines: [
      ...[edit(1), shell(10, "python train.py", "done. held-out accuracy is 71.2 percent"), handed(20, "1")],
      ...[line(40, "first", 0.712), ...finished("1")],
    ],
    counts: 1,
    last: 0.712,
  },
  {
    name: "a worse last try, and an earlier model restored from a copy",
    lines: [
      ...[
        edit(1),
        shell(10, "python train.py", '{"dev_accuracy": 0.7}'),
        shell(20, "cp -r out best"),
        handed(22, "1"),
      ],
      ...[edit(30), shell(40, "python train.py", '{"dev_accuracy": 0.6}'), handed(50, "2")],
      ...[shell(60, "rm -r submission/* && cp -r best/. submission/"), handed(70, "1"), ...finished("1")],
    ],
    counts: 2,
    last: 0.6,
  },
  {
    name: "a memory error that a smaller batch avoids, and a last grep that finds nothing",
    lines: [
      edit(1),
      shell(10, "python train.py --batch 64", "torch.OutOfMemoryError: CUDA out of memory", { exit: 1 }),
      ...[shell(20, "python train.py --batch 8", '{"dev_accuracy": 0.7}'), handed(30, "1")],
      shell(40, "grep -c Error train.log", "0", { exit: 1 }),
      ...finished("1"),
    ],
    counts: 1,
    last: 0.7,
  },
];

for (const { name, lines, counts, last } of faultless)
  test(`a faultless attempt is accused of nothing: ${name}`, () => {
    const found = story(lines);
    assert.deepEqual(accusations(found), []);
    assert.deepEqual(found.iterations.filter((one) => one.counts).length, counts);
    assert.equal(found.iterations.findLast((one) => one.metric?.value != null)?.metric?.value ?? null, last);
  });

/** Everything in the file that says what someone did wrong, or that something ended the attempt. */
function accusations(value: unknown, key = ""): unknown[] {
  const accuses = /^(failure|failures|pattern|whose|where|claimedOnly|ends|labels)$/.test(key);
  if (value === null || value === 0 || value === undefined) return [];
  if (typeof value !== "object") return accuses ? [[key, value]] : [];
  return Object.entries(value).flatMap(([name, inner]) =>
    accusations(inner, /^\d+$/.test(name) ? key : name),
  );
}
