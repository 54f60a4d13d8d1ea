// Folders as real libraries leave them: what `lm_eval --model hf` scores from safetensors without code is admitted and gets
// equal digits, or belongs to a family that docs/bring-an-agent.md names. The models are tiny and random.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { type Admission, admission as format } from "@mlrb/formats/judged/admission";
import { mustFollow } from "@mlrb/formats/read-format";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { writeCleanSubmission } from "@mlrb/kit/admission/clean-submission";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { runPython } from "./support/run-python.ts";

const repository = resolve(import.meta.dirname, "..");
const root = realpathSync(mkdtempSync(join(tmpdir(), "honest-")));
const made = join(root, "made");
after(() => rmSync(root, { recursive: true, force: true }));

/** Likelihoods, or why there are none. */
type Digits = number[][] | string;
type Found = { official: Digits; ours: Digits | null; inFp32?: Digits };

const admissions = new Map<string, Admission>();
let found: Record<string, Found>;

const python = (args: string[]) => runPython(args, { timeout: 300_000 });

const lastLine = (text: string) => JSON.parse(text.slice(text.lastIndexOf("\n") + 1));

before(() => {
  mkdirSync(made);
  const names: string[] = lastLine(
    python([join(repository, "tests/support/submissions/honest_folders.py"), made]),
  );
  const pairs = names.flatMap((name) => {
    const folder = join(made, name);
    const admission = mustFollow(format, admit(folder), name);
    admissions.set(name, admission);
    if (!admission.admitted || admission.undecided) return [folder, "-"];
    writeCleanSubmission(folder, join(root, "clean", name));
    return [folder, join(root, "clean", name)];
  });
  found = lastLine(python([join(repository, "tests/support/submissions/official_digits.py"), ...pairs]));
});

/** What is not scored: the code of its admission. lm-eval scores some of them, each for the reason given. */
const notScored: Record<string, { code: string; officially?: string }> = {
  "family-bert": { code: "not-scorable", officially: "a model that looks ahead" },
  mbart: { code: "not-scorable", officially: "a decoder that is given the answer" },
  "bin-alone": { code: "no-weights", officially: "a pickle" },
  "own-type-auto-map": { code: "not-scorable" },
  gguf: { code: "no-weights" },
  "peft-adapter": { code: "adapter" },
  quantised: { code: "undecided" },
  "sharded-no-index": { code: "no-weights" },
  "trainer-checkpoints-only": { code: "empty" },
};
/** lm-eval leaves the folder: it adds the adapter to the weights of a base elsewhere. */
const elsewhere = new Set(["peft-adapter-and-merged"]);
/** Admitted, and refused by loaders: its library is not installed. */
const notLoaded = new Set(["sentencepiece-only"]);

test("at least 50 folders are made, and each of those that are not scored has its reason", () => {
  assert.ok(admissions.size >= 50, `${admissions.size} folders`);
  for (const [name, { admitted, undecided, reasons }] of admissions) {
    const { code, officially } = notScored[name] ?? {};
    if (code === undefined) {
      assert.deepEqual([reasons, undecided], [[], undefined], name);
      continue;
    }
    const codes = undecided ? ["undecided"] : reasons.map((reason) => reason.code);
    assert.ok(codes.includes(code), `${name}: ${JSON.stringify(reasons)}`);
    assert.equal(admitted, code === "undecided", name);
    assert.equal(typeof found[name]!.official !== "string", officially !== undefined, name);
  }
});

test("every other folder that lm-eval scores gets the digits of lm-eval", () => {
  let equal = 0;
  for (const [name, { official, ours, inFp32 }] of Object.entries(found)) {
    if (name in notScored || elsewhere.has(name) || typeof official === "string") continue;
    // settings that name another type than the weights have: scorers take that of the weights
    assert.deepEqual(ours, inFp32 ?? official, name);
    equal++;
  }
  assert.ok(equal >= 40, `${equal} folders`);
});

test("a folder that lm-eval cannot load is refused, unless only its settings for generation are at fault", () => {
  const failed = Object.entries(found).filter(
    ([name, { official }]) => !(name in notScored) && typeof official === "string",
  );
  assert.deepEqual(
    failed.map(([name]) => name),
    ["sentencepiece-only", "generation-zero-tokens"],
  );
  for (const [name, { ours }] of failed) assert.equal(typeof ours === "string", notLoaded.has(name), name);
  assert.match(
    `${found["sentencepiece-only"]!.ours}`,
    /tokenizer\.model needs a library that is not installed/,
  );
  assert.deepEqual(found["generation-zero-tokens"]!.ours, found["family-gpt2"]!.ours);
});

test("the weights that lm-eval takes are taken where a folder holds several", () => {
  const { ours } = found["family-gpt2"]!;
  assert.deepEqual(found["bin-beside"]!.ours, ours);
  assert.notDeepEqual(found["sharded-and-single"]!.ours, found.sharded!.ours);
  assert.deepEqual(found["peft-adapter-and-merged"]!.ours, found["peft-merged"]!.ours);
});

test("files that no loader opens are listed by name", () => {
  const ignored = (name: string) => admissions.get(name)!.ignored?.first.map(({ path }) => path);
  assert.deepEqual(ignored("trainer"), ["checkpoint-1", "checkpoint-2", "training_args.bin"]);
  assert.deepEqual(ignored("phi3-auto-map"), ["configuration_phi3.py", "modeling_phi3.py"]);
  assert.equal(ignored("family-llama"), undefined);
});

test("the load check hands scorers an admission without what was left out, so that equal folders share scores", () => {
  const admission = admissions.get("trainer")!;
  assert.ok(admission.ignored && admission.dropped);
  const [given, result] = [join(root, "given.json"), join(root, "result.json")];
  writeJson(given, admission);
  python([
    join(repository, "pipelines/steps/load.py"),
    ...["--input", `submission=${join(root, "clean/trainer")}`, "--input", `admission=${given}`],
    ...["--output", `admission=${result}`],
  ]);
  assert.deepEqual(readJson(result), { formatVersion: 1, admitted: true, reasons: [] });
});

test("docs/bring-an-agent.md names every family that is not scorable", () => {
  const page = readFileSync(join(repository, "docs/bring-an-agent.md"), "utf8");
  for (const words of ["mBART", "is_decoder", "auto_map", "GGUF", "pytorch_model.bin", "adapter"])
    assert.ok(page.includes(words), words);
});
