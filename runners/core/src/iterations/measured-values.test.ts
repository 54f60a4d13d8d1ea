import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluatedValues, measuredValues } from "./measured-values.ts";

const read = (text: string) =>
  measuredValues(text).map(({ name, split, value }) => `${split ?? "-"} ${name} ${value}`);

for (const [what, text, values] of [
  [
    "Trainer's line of training",
    "{'loss': 3.41, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.1}",
    ["train loss 3.41"],
  ],
  [
    "Trainer's line of evaluation",
    "{'eval_loss': 3.41, 'eval_runtime': 2, 'eval_steps_per_second': 9, 'epoch': 1.0}",
    ["eval loss 3.41"],
  ],
  ["Trainer's last line", "{'train_runtime': 61.2, 'train_loss': 3.6, 'epoch': 1.0}", ["train loss 3.6"]],
  [
    "an evaluation by a name of its own",
    "{'eval_blimp': 0.7, 'eval_model_preparation_time': 0.1} {'test_runtime': 3, 'test_blimp': 0.6, 'test_samples': 9}",
    ["eval blimp 0.7", "test blimp 0.6"],
  ],
  [
    "settings and sizes of an evaluation",
    '{"eval_batch_size": 8, "eval_delay": 0, "test_size": 0.1, "val": {"size": 5}, "eval_temperature": 0.7, "test_date": 20260101, "eval_loss": 3.4}',
    ["eval loss 3.4"],
  ],
  [
    "TRL's counts beside its metrics",
    "{'eval_loss': 2.0, 'eval_runtime': 3.1, 'eval_num_tokens': 20000.0, 'eval_mean_token_accuracy': 0.56}",
    ["eval loss 2", "eval mean-token-accuracy 0.56"],
  ],
  [
    "a log of training by a short name of the learning rate",
    '{"step": 100, "loss": 3.2, "lr": 0.0003}',
    ["train loss 3.2"],
  ],
  ["a table of settings", "| Metric | Value |\n|---|---|\n| learning_rate | 0.01 |\n| date | 20260101 |", []],
  [
    "numbers as texts, as Transformers 5 prints them",
    "{'eval_loss': '3.41', 'epoch': '1.0'}",
    ["eval loss 3.41"],
  ],
  [
    "scientific notation",
    '{"eval_loss": 1.5e-3, "dev_perplexity": 2E+4}',
    ["eval loss 0.0015", "dev perplexity 20000"],
  ],
  [
    "NaN and infinities",
    "{'eval_loss': nan, 'eval_f1': -inf} {\"test_loss\": NaN, \"test_acc\": Infinity}",
    ["eval loss NaN", "eval f1 -Infinity", "test loss NaN", "test acc Infinity"],
  ],
  [
    "numbers of NumPy and torch",
    "{'eval_loss': np.float64(3.41), 'dev_acc': tensor(0.5, device='cuda:0')}",
    ["eval loss 3.41", "dev acc 0.5"],
  ],
  [
    "indented JSON in other text",
    'done:\n{\n  "dev": {\n    "accuracy": 0.7,\n    "n": 10\n  }\n}\nbye',
    ["dev accuracy 0.7"],
  ],
  [
    "a progress bar before a dictionary",
    " 10%|█ | 5/50 [00:01<00:10,  4.9it/s]{'eval_loss': 3.4}",
    ["eval loss 3.4"],
  ],
  [
    "results of lm_eval as JSON",
    '{"results": {"blimp": {"alias": "blimp", "acc,none": 0.71, "acc_stderr,none": 0.01}}, "config": {"batch_size": 8}}',
    ["blimp acc 0.71"],
  ],
  [
    "braces and apostrophes of prose before it",
    "don't use {x}, it isn't {fine\n{'eval_loss': 3.4}",
    ["eval loss 3.4"],
  ],
  [
    "a configuration",
    '{"hidden_size": 768, "layer_norm_epsilon": 1e-05, "score_threshold": 0.5, "steps": 3}',
    [],
  ],
  ["a dictionary that was cut", "oss': 2.0, 'eval_loss': 1.0}\n{'eval_loss': 3.4", []],
  [
    "values that are no numbers",
    '{"eval_loss": "bad", "dev_acc": [0.5], "dev_f1": null, "test_acc": {"n": 2}}',
    [],
  ],
  ["plain words", "dev accuracy: 0.71, loss = 3.4, 3.2 bits per byte", []],
] as const)
  test(`values are read from a program's output, and nothing else: ${what}`, () => {
    assert.deepEqual(read(text), values);
  });

const lmEval = `
|    Tasks     |Version|Filter|n-shot|Metric  |   |Value |   |Stderr|
|--------------|------:|------|-----:|--------|---|-----:|---|-----:|
|arc_easy      |      1|none  |     0|acc     |↑  |0.5850|±  |0.0101|
|              |       |none  |     0|acc_norm|↑  |0.5400|±  |0.0102|
|wikitext      |      2|none  |     0|word_perplexity|↓|1.2e+05|±|   N/A|
| - blimp_wh   |      1|none  |     0|acc     |↑  |   nan|±  |0.0101|
|other         |      1|none  |     0|acc     |↑  |   N/A|   |      |

|Groups|Version|Filter|n-shot|Metric|   |Value |   |Stderr|
|------|------:|------|-----:|------|---|-----:|---|-----:|
|blimp |      1|none  |      |acc   |↑  |0.7100|±  |0.0044|

|Task|Value|
|----|----:|
|x   |    1|
`;

test("tables of lm_eval give a value for each task and metric", () => {
  assert.deepEqual(read(lmEval), [
    "arc_easy acc 0.585",
    "arc_easy acc-norm 0.54",
    "wikitext word-perplexity 120000",
    "blimp_wh acc NaN",
    "blimp acc 0.71",
  ]);
  const old =
    "|Task|Version|Metric|Value |   |Stderr|\n|----|------:|------|-----:|---|-----:|\n|mmlu|0|acc|0.25|±|0.01|";
  assert.deepEqual(read(old), ["mmlu acc 0.25"]);
});

test("values come in the order of the text, and the training's own are no evaluation", () => {
  const text = `{'eval_loss': 3}\n${lmEval}{'eval_loss': 2}\n{'loss': 1, 'learning_rate': 1}\n{"train": {"accuracy": 1}}`;
  assert.deepEqual([read(text)[0], read(text).at(-3)], ["eval loss 3", "eval loss 2"]);
  assert.deepEqual(evaluatedValues(text).at(-1), { name: "loss", split: "eval", value: 2 });
});

test("texts made to be slow to read are read quickly", () => {
  const long = 60_000;
  const hostile = [
    "{",
    "{'",
    '{"',
    "{'a':",
    "|",
    "|Metric|Value|\n",
    "{'a\\",
    "1",
    "{1.",
    "e",
    "{e",
    "{'a': np.",
    "{-",
    " |",
  ];
  const before = performance.now();
  for (const text of hostile) {
    measuredValues(text.repeat(long));
    measuredValues(`{${text.repeat(long)}`);
    measuredValues(`${"{'eval_".repeat(9)}${text.repeat(long)}: 1}`);
  }
  assert.ok(performance.now() - before < 5000);
});
