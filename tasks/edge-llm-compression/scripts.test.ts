// Runs both scripted agents on a model of 30 tiny blocks, eight of which are idle: measuring finds them.
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readWeights } from "@mlrb/kit/admission/admission-model";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { brownDocuments } from "../brown/brown.ts";
import { runScript, runTaskPython } from "../testing/run-script.ts";

const idle = [3, 4, 5, 11, 17, 18, 24, 28];
const temporary = mkdtempSync(join(tmpdir(), "mlrb-scripts-"));
const base = join(temporary, "base");
const texts = join(temporary, "train.jsonl");
const inTime = new Map<string, ReturnType<typeof attempt>>();
before(() => {
  const rows = brownDocuments().map(({ content }) => `${JSON.stringify({ text: content.slice(0, 600) })}\n`);
  writeFileSync(texts, rows.slice(0, 60).join(""));
  const made = runTaskPython(["edge-llm-compression/testing/tiny_base.py", base, texts, idle.join(",")]);
  assert.equal(made.status, 0, made.stderr);
  for (const name of ["weak", "strong"]) inTime.set(name, attempt(name, "in-time", 600));
});
after(() => rmSync(temporary, { recursive: true }));

for (const name of ["weak", "strong"]) {
  test(`${name} submits a whole model and its record when the deadline leaves no time to choose`, () => {
    const { said, submission, provenance, iteration } = attempt(name, "no-time", 0);
    assert.match(said, /the deadline is near: stopped after 0 of 1024 tokens/);
    assert.deepEqual(readdirSync(submission).sort(), [
      "config.json",
      "model.safetensors",
      "provenance.json",
      "tokenizer.json",
      "tokenizer_config.json",
    ]);
    assert.deepEqual(admit(submission).reasons, []);
    assert.deepEqual(provenance.blocksTakenOut, [1, 4, 8, 12, 16, 19, 23, 27]);
    assert.deepEqual([provenance.data, provenance.trainTokens], [["brown-calibration"], 0]);
    assert.equal(iteration.metric.split, "dev");
    assert.ok(iteration.metric.value > 1, "a model of random numbers cannot do better");
  });
}

test("both read the same number of tokens, and the remaining weights equal the base's", () => {
  for (const [name, { said, submission, provenance }] of inTime) {
    assert.doesNotMatch(said, /deadline/);
    assert.equal(provenance.calibrationTokens, 1024, name);
    const dropped: number[] = provenance.blocksTakenOut;
    assert.equal(new Set(dropped).size, 8);
    const config = JSON.parse(readFileSync(join(submission, "config.json"), "utf8"));
    assert.equal(config.num_hidden_layers, 22);
    const kept = Array.from({ length: 30 }, (_, at) => at).filter((at) => !dropped.includes(at));
    const [before, after] = [tensors(base), tensors(submission)];
    assert.equal(after.size, 2 + 22 * 9);
    for (const [tensor, values] of after) {
      const origin = tensor.replace(/layers\.(\d+)/, (_, at) => `layers.${kept[Number(at)]}`);
      assert.ok(values.equals(before.get(origin)!), `${name}: ${tensor}`);
    }
  }
});

test("script-strong removes exactly the idle blocks", () => {
  assert.deepEqual(inTime.get("strong")!.provenance.blocksTakenOut, idle);
});

test("weak keeps its best offset, and one seed produces the same bytes", () => {
  const { said, submission, provenance } = attempt("weak", "again", 600);
  const tried = [...said.matchAll(/without blocks (\[.*\]): (\d+) bits/g)].map(([, blocks, bits]) => ({
    blocks: JSON.parse(blocks!),
    bits: Number(bits),
  }));
  assert.equal(tried.length, 4);
  const least = Math.min(...tried.map(({ bits }) => bits));
  assert.deepEqual(provenance.blocksTakenOut, tried.find(({ bits }) => bits === least)!.blocks);
  const earlier = inTime.get("weak")!.submission;
  for (const file of readdirSync(earlier))
    assert.ok(readFileSync(join(earlier, file)).equals(readFileSync(join(submission, file))), file);
});

function attempt(name: string, label: string, seconds: number) {
  const workspace = join(temporary, `${name}-${label}`);
  mkdirSync(join(workspace, "data"), { recursive: true });
  mkdirSync(join(workspace, "models"));
  symlinkSync(texts, join(workspace, "data/train.jsonl"));
  symlinkSync(base, join(workspace, "models/base"));
  const task = "edge-llm-compression";
  const ran = runScript(task, { agent: name, workspace }, seconds);
  assert.equal(ran.status, 0, ran.stderr);
  return { said: ran.stdout, ...read(workspace) };
}

function read(workspace: string) {
  const submission = join(workspace, "submission");
  const provenance = JSON.parse(readFileSync(join(submission, "provenance.json"), "utf8"));
  const iteration = JSON.parse(readFileSync(join(workspace, "iterations.jsonl"), "utf8"));
  return { submission, provenance, iteration };
}

/** The bytes of every tensor as float32, which holds bfloat16 exactly. */
function tensors(folder: string): Map<string, Buffer> {
  const { files, reasons } = readWeights(folder);
  assert.deepEqual(reasons, []);
  const [{ path, tensors: found }] = files as [(typeof files)[0]];
  const file = readFileSync(path);
  return new Map(
    found.map(({ name, dtype, begin, end }) => {
      const bytes = new Uint8Array(file.subarray(begin, end));
      if (dtype === "F32") return [name, Buffer.from(bytes)];
      assert.equal(dtype, "BF16", name);
      const wide = Uint32Array.from(new Uint16Array(bytes.buffer), (half) => half * 65536);
      return [name, Buffer.from(wide.buffer)];
    }),
  );
}
