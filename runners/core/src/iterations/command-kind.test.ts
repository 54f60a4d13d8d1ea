import assert from "node:assert/strict";
import { test } from "node:test";
import { alsoEvaluates, type CommandKind, commandKind } from "./command-kind.ts";
import { errorStage } from "./error-stage.ts";
import { printedAs, printedValues } from "./printed-values.ts";

const kinds: [CommandKind, string][] = [
  ["train", "python train.py"],
  ["train", "CUDA_VISIBLE_DEVICES=0 nohup timeout 600 python finetune.py --lr 1e-4 > log 2>&1 &"],
  ["train", "torchrun --nproc 1 run.py"],
  ["train", "cat > train.py <<'EOF'\nx = 1\nEOF\npython train.py"],
  ["train", "python - <<'EOF'\nloss.backward()\nEOF"],
  ["train", "import torch\nloss = model(x)\nloss.backward()"],
  ["train", "python train.py && python eval.py"],
  ["evaluate", "python evaluate.py data/train.jsonl"],
  ["evaluate", "lm_eval --model hf --tasks x"],
  ["write", "cat > train.py <<'EOF'\nloss.backward()\nprint('eval')\nEOF"],
  ["write", "sed -i s/1e-3/1e-4/ train.py"],
  ["write", "echo 'lr: 1' > train.yaml"],
  ["write", "cp -r runs/1 submission"],
  ["look", "cat train.py"],
  ["look", "ls data | head"],
  ["look", "grep -n loss train.log"],
  ["data", "python prepare.py"],
  ["data", "wget https://example.invalid/train.zip"],
  ["other", "pip install flash-attn"],
  ["other", "mkdir train"],
  ["other", "python run.py"],
  ["other", ""],
];
for (const [kind, command] of kinds)
  test(`${JSON.stringify(command)} is there to ${kind}`, () => assert.equal(commandKind(command), kind));

test("a command may train and evaluate, and a file name alone does not make it evaluate", () => {
  assert.ok(alsoEvaluates("python train.py && python eval.py"));
  assert.ok(!alsoEvaluates("cat eval.py; python train.py"));
});

test("values are found with their names and splits, including NaN, and longer words are not mistaken for names", () => {
  assert.deepEqual(printedValues("epoch 3 | val_acc=0.8312, train loss: nan; dev 2.38 bits per byte"), [
    { name: "acc", split: "val", value: 0.8312 },
    { name: "loss", split: "train", value: Number.NaN },
    { name: "bits-per-byte", split: "dev", value: 2.38 },
  ]);
  assert.deepEqual(printedValues("lossless 3, accordion 4, glossary 5"), []);
});

test("a claim counts as printed if its digits were printed, as a share or in per cent", () => {
  assert.equal(printedAs("dev 2.3830", 2.3829867), 2.383);
  assert.ok(Math.abs(printedAs("71.2 %", 0.712)! - 0.712) < 1e-9);
  assert.equal(printedAs("dev 2.38", 2.39), undefined);
  assert.equal(printedAs("step 1", 0.97), undefined, "a whole number shows only itself");
  assert.equal(printedAs("exactly 3", 3), 3);
});

test("an error message shows its stage, and other output does not", () => {
  assert.equal(errorStage("KeyError: 'text'", "train"), "data");
  assert.equal(errorStage("CUDA out of memory", "evaluate"), "evaluate");
  assert.equal(errorStage("ModuleNotFoundError: No module named 'x'", "train"), "implement");
  assert.equal(errorStage("all is well", "train"), undefined);
});

test("texts made to be slow to match are matched quickly", () => {
  const long = 60_000;
  const hostile = [
    "cat ".repeat(long),
    `${"cat <<a ".repeat(long)}\n`,
    "\n".repeat(long),
    ";echo".repeat(long),
    "x".repeat(long),
    `loss${" ".repeat(long)}`,
    "loss ".repeat(long),
    "1".repeat(long),
    "1.".repeat(long),
    `val${"_".repeat(long)}`,
    "/proc/".repeat(long),
  ];
  for (const text of hostile) {
    commandKind(text);
    assert.ok(Array.isArray(printedValues(text)));
    printedAs(text, 0.123);
    errorStage(text, "train");
  }
});
