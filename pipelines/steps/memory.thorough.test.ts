// Real measurements: three processes for each of these, about 20 seconds.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import type { MemoryMeasurement } from "@mlrb/formats/judged/memory";
import { pythonPath } from "@mlrb/kit/python-path";
import { memoryMax } from "@mlrb/kit/rules/memory-max";
import type { RuleArguments } from "@mlrb/kit/rules/rule-method";
import { testPython } from "../../scorers/testing/submissions.ts";
import { runMemoryStep } from "./testing/run-memory-step.ts";

const repository = resolve(import.meta.dirname, "../..");
const root = mkdtempSync(join(tmpdir(), "memory-step-"));
after(() => rmSync(root, { recursive: true }));

const MB = 1e6;
// two models with files of 2 MB: one keeps 160 MB for a pass over 2 000 tokens, several times
const program = `
import sys
from pathlib import Path
import torch
from memory_models import save_small, save_wide
from safetensors.torch import load_file, save_file
save_wide(Path(sys.argv[1], "wide"))
save_small(Path(sys.argv[1], "small"))
save_small(Path(sys.argv[1], "eighths"))
weights = Path(sys.argv[1], "eighths", "model.safetensors")
tensors = load_file(weights)
table = next(name for name in tensors if "embed_tokens" in name or "wte" in name)
save_file({**tensors, table: tensors[table].to(torch.float8_e4m3fn)}, weights, metadata={"format": "pt"})
`;
before(() => {
  const folders = `${pythonPath(repository)}:${join(repository, "scorers/library/tests")}`;
  execFileSync(testPython(), ["-c", program, root], { env: { ...process.env, PYTHONPATH: folders } });
});

function judge(model: string, given: RuleArguments) {
  const rules = [{ name: "memory", method: "memory-max", with: given }];
  const at = mkdtempSync(join(root, "m-"));
  const { measurements } = runMemoryStep({ at, submission: join(root, model), rules });
  return { measurements, ...decide(given, measurements) };
}

function decide(given: RuleArguments, memory: MemoryMeasurement[]) {
  const rest = { folder: root, weights: [], ledger: "none", budgetMs: 1 };
  return memoryMax.decide!({ ...rest, memory }, given);
}

test("a model whose weights and logits fit fails by its activations, under the hard limit and over it", () => {
  assert.ok(statSync(join(root, "wide/model.safetensors")).size + 2000 * 64 * 4 < 5 * MB);
  const under = judge("wide", { bytes: 300 * MB, tokens: 2000 });
  assert.deepEqual([under.measurements[0]!.runs[0]!.end, under.answer], ["measured", "fail"]);
  const over = judge("wide", { bytes: 120 * MB, tokens: 2000, newTokens: 128 });
  assert.deepEqual([over.measurements[0]!.runs[0]!.end, over.answer], ["over-limit", "fail"]);
  assert.match(over.evidence, /^net peak at least about 240 MB.*it asked for more than its hard limit/);
});

test("a model whose table of 8-bit floats torch cannot read is a failed measurement, and no failed stage", () => {
  const found = judge("eighths", { bytes: 120 * MB, tokens: 2000 });
  assert.deepEqual(
    found.measurements[0]!.runs.map(({ end }) => end),
    ["failed"],
  );
  assert.match(found.evidence, /a known-good model can: NotMeasurable: NotImpl/);
  assert.equal(found.answer, "undecided");
});

test("an honest model passes, and is undecided at a limit that it just needs", () => {
  const honest = judge("small", { bytes: 120 * MB, tokens: 2000, newTokens: 128 });
  assert.equal(honest.answer, "pass", honest.evidence);
  const bytes = Math.max(...honest.measurements[0]!.runs.map((run) => run.atMostBytes!));
  assert.equal(
    decide({ bytes, tokens: 2000, newTokens: 128 }, [{ ...honest.measurements[0]!, bytes }]).answer,
    "undecided",
  );
});
