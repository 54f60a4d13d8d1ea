// T5 and BART with the tokenizers of their families are scored on every task that may hand them in, to the digits
// of plain lm-eval and of generate(). The models are tiny and trained for a moment.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { writeCleanSubmission } from "@mlrb/kit/admission/clean-submission";
import { writeJson } from "@mlrb/kit/json-file";
import { judgeIdentity } from "../pipelines/steps/testing/judge-identity.ts";
import { fixtures, stageFlags } from "../scorers/testing/measure.ts";
import { runPython } from "./support/run-python.ts";

const repository = resolve(import.meta.dirname, "..");
const root = realpathSync(mkdtempSync(join(tmpdir(), "encoder-decoders-")));
after(() => rmSync(root, { recursive: true, force: true }));
const program = join(repository, "tests/support/submissions/encoder_decoders.py");
const made = (name: string) => join(root, "made", name);

type Found = {
  value?: number;
  rejected?: string;
  likelihoods?: number[][];
  official?: number[][];
};
type Answers = { ours: string[]; official: string[] };
type Scores = Record<string, Found> & {
  "bits-per-byte": { value?: number; rejected?: string; official: number };
  answers: Answers;
  memory: { end: string; numbers: { netBytes: number } };
  memorisation: { kind: string };
  checks: string[];
};
const scores = {} as Record<"t5-tuned" | "t5-bytes" | "bart-tuned", Scores>;

const python = (args: string[]) => runPython(args, { cwd: repository });

before(() => {
  for (const folder of ["made", "public"]) mkdirSync(join(root, folder));
  python([program, "make", join(root, "made")]);
  const text = "The ferry left the harbour at seven, and the last of its passengers slept.";
  const rows = Array.from(
    { length: 20 },
    (_, at) => `${JSON.stringify({ text: `${text} It was ${at}.` })}\n`,
  );
  writeFileSync(join(root, "public/train.jsonl"), rows.join(""));
  for (const name of ["t5-tuned", "t5-bytes", "bart-tuned"] as const) {
    const { reasons, undecided } = admit(made(name));
    assert.deepEqual([reasons, undecided], [[], undefined], name);
    const clean = join(root, "clean", name);
    writeCleanSubmission(made(name), clean);
    const said = python([program, "score", made(name), clean, join(root, "public")]);
    scores[name] = JSON.parse(said.slice(said.lastIndexOf("\n") + 1)) as Scores;
  }
});

test("every scorer of lm-eval's tasks has the digits of lm-eval on the original folder", () => {
  for (const [name, found] of Object.entries(scores)) {
    for (const scorer of [
      "mmlu",
      "mmlu-continuation",
      "house-facts",
      "worst-domain",
      "blimp",
      "super-glue-mean",
    ]) {
      const { value, likelihoods, official } = found[scorer]!;
      assert.ok(value !== undefined, `${name}, ${scorer}: ${found[scorer]!.rejected}`);
      assert.deepEqual(likelihoods, official, `${name}, ${scorer}`);
    }
    assert.ok(new Set(found.mmlu!.likelihoods!.flat()).size > 10, `${name} answers everything alike`);
  }
});

test("lm-eval's own command has the same accuracies", () => {
  const data = join(fixtures("mmlu"), "mmlu");
  const flags = { submission: made("bart-tuned"), data, repository: "cais/mmlu", splits: "test,dev" };
  const more = { tasks: "mmlu_anatomy,mmlu_astronomy", dtype: "float32" };
  const said = python([
    join(repository, "scorers/library/scorer_library/lm_eval/command.py"),
    ...Object.entries({ ...flags, ...more }).flatMap(([name, value]) => [`--${name}`, value]),
  ]);
  const official = JSON.parse(said) as Record<string, { "acc,none": number }>;
  const accuracies = Object.values(official).map((each) => each["acc,none"]);
  assert.equal(accuracies.length, 2);
  const mean = accuracies.reduce((sum, each) => sum + each, 0) / 2;
  assert.ok(Math.abs(scores["bart-tuned"].mmlu!.value! - mean) < 1e-12); // both have as many questions
});

test("bits per byte are lm-eval's likelihoods of texts without context, and a tokenizer that loses text has none", () => {
  for (const name of ["t5-bytes", "bart-tuned"] as const) {
    const { value, official } = scores[name]["bits-per-byte"];
    assert.ok(Math.abs(value! / official - 1) < 1e-6, `${name}: ${value}, lm-eval ${official}`);
    for (const scorer of ["bits-per-byte-mean", "house-pairs"])
      assert.ok(scores[name][scorer]!.value !== undefined, `${name}, ${scorer}`);
    assert.equal(scores[name].memorisation.kind, "measured");
  }
  assert.match(scores["t5-tuned"]["bits-per-byte"].rejected!, /the tokenizer loses text/);
});

test("formal proofs are what generate() of transformers writes", () => {
  for (const [name, { answers, bleu, "rouge-l": rouge }] of Object.entries(scores)) {
    assert.deepEqual(answers.ours, answers.official, name);
    for (const found of [bleu, rouge]) assert.ok(found!.value !== undefined, name);
  }
  assert.ok(scores["bart-tuned"].answers.ours.some((text) => text !== ""));
});

test("memory, compute and an agent's own check work as for other models", () => {
  for (const [name, found] of Object.entries(scores)) {
    assert.equal(found.memory.end, "measured", JSON.stringify(found.memory));
    for (const scorer of ["net-peak-bytes", "efficiency", "mmlu-permuted"])
      assert.ok(found[scorer]!.value !== undefined, `${name}, ${scorer}: ${found[scorer]!.rejected}`);
    assert.deepEqual(found.checks, ["pass load", "pass model", "pass look-ahead"], name);
  }
});

test("a T5 or BART that was trained from the given one passes, and another one does not", () => {
  const given = { models: ["base"] };
  const rules = [
    { method: "base-approved", with: given },
    { method: "changed", with: given },
  ];
  writeJson(join(root, "admitted.json"), { formatVersion: 1, admitted: true, reasons: [] });
  for (const [base, submission, approved, changed] of [
    ["t5", "t5-tuned", "pass", "pass"],
    ["bart", "bart-tuned", "pass", "pass"],
    ["t5", "t5", "pass", "fail"],
    ["t5-bytes", "bart", "fail", "pass"],
  ] as const) {
    const models = join(root, `models-${base}`);
    mkdirSync(models, { recursive: true });
    execFileSync("cp", ["-r", made(base), join(models, "base")]);
    const found = join(root, `${submission}-from-${base}.json`);
    python([
      join(repository, "pipelines/steps/identity.py"),
      ...stageFlags({
        param: { data: "smoke", rules: JSON.stringify(rules) },
        input: { submission: made(submission), admission: join(root, "admitted.json"), models },
        output: { identity: found },
      }),
      ...["--secret-seed", "00".repeat(32)],
    ]);
    const answers = rules.map(({ method }) => judgeIdentity(method, found, given).answer);
    assert.deepEqual(answers, [approved, changed], `${submission} from ${base}`);
  }
});
