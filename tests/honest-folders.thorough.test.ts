// Folders as real libraries leave them: what `lm_eval --model hf` scores from safetensors without code is admitted
// and gets equal digits, or belongs to a family that docs/agents.md names. The models are tiny and random.
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
  "linked-weights": { code: "odd-file", officially: "a link" },
  "five-yarn-llama": { code: "undecided" },
  "layer-types-of-five": { code: "undecided" },
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
/**
 * What the installed transformers cannot load, or loads as another model, by the folder that holds the same model
 * in a form that it can. transformers 5 writes these settings, and save_model of safetensors these weights.
 */
const twins: Record<string, string> = {
  "save-model": "family-gpt2",
  "save-model-without-format": "family-gpt2",
  "save-model-t5": "t5",
  "save-model-bart": "bart",
  "save-model-bert": "bert-decoder",
  "rope-parameters-without-version": "theta-llama",
  "extra-tokens-list": "additional-tokens",
  "tokenizer-class-of-tomorrow": "family-gpt2",
};
const withTwin = (name: string) => twins[name] ?? /^five-(.+)$/.exec(name)?.[1];
/** Admitted, and left undecided by loaders: lm-eval drops the head. */
const undecidedByLoaders = new Set(["head-trained-apart"]);
/** Admitted, and refused by loaders: its library is not installed. */
const notLoaded = new Set(["sentencepiece-only"]);

test("at least 105 folders are made, and each of those that are not scored has its reason", () => {
  assert.ok(admissions.size >= 105, `${admissions.size} folders`);
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
    if (name in notScored || elsewhere.has(name) || withTwin(name) || undecidedByLoaders.has(name)) continue;
    if (typeof official === "string") continue;
    // settings that name another type than the weights have: scorers take that of the weights
    assert.deepEqual(ours, inFp32 ?? official, name);
    equal++;
  }
  assert.ok(equal >= 70, `${equal} folders`);
});

test("a folder that only a later transformers or safetensors loads gets the digits of the same model saved by this one", () => {
  let equal = 0;
  for (const [name, { ours }] of Object.entries(found)) {
    const twin = withTwin(name);
    if (twin === undefined || name in notScored) continue;
    assert.ok(Array.isArray(found[twin]!.official), twin);
    assert.deepEqual(ours, found[twin]!.official, name);
    equal++;
  }
  assert.ok(equal >= 20, `${equal} folders`);
});

test("a head that was trained apart is undecided with the cure, and the cure gives that head's digits", () => {
  const { official, ours } = found["head-trained-apart"]!;
  assert.ok(Array.isArray(official));
  assert.match(`${ours}`, /^undecided: .*set "tie_word_embeddings": false in config\.json/);
  assert.notDeepEqual(found["head-trained-apart-said"]!.ours, official);
});

test("a folder that lm-eval cannot load is refused, unless only its settings for generation are at fault", () => {
  const failed = Object.entries(found).filter(
    ([name, { official }]) => !(name in notScored || withTwin(name)) && typeof official === "string",
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

test("the load check adds to the admission that tied weights differ, so no scorer opens the submission", () => {
  const [given, result] = [join(root, "head-given.json"), join(root, "head-result.json")];
  writeJson(given, admissions.get("head-trained-apart")!);
  python([
    join(repository, "pipelines/steps/load.py"),
    ...["--input", `submission=${join(root, "clean/head-trained-apart")}`, "--input", `admission=${given}`],
    ...["--output", `admission=${result}`],
  ]);
  const { admitted, undecided } = mustFollow(format, readJson(result), "load");
  assert.deepEqual([admitted, undecided?.map(({ code }) => code)], [true, ["load"]]);
});

test("docs/agents.md names every family that is not scorable", () => {
  const page = readFileSync(join(repository, "docs/agents.md"), "utf8");
  for (const words of ["mBART", "is_decoder", "auto_map", "GGUF", "pytorch_model.bin", "adapter"])
    assert.ok(page.includes(words), words);
});
