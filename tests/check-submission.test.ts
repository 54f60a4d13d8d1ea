// The program's answers are those of the pipeline's own stages: admission, load, and the test for look-ahead. A
// sample of the folders; `node tests/support/submissions/check-answers.ts` compares all of them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { writeCase } from "@mlrb/kit/admission/testing/hostile-case";
import { hostileCorpus } from "@mlrb/kit/admission/testing/hostile-corpus";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../scorers/testing/submissions.ts";
import {
  bothAnswers,
  causalityChecks,
  first,
  honestFolders,
  madeFolders,
  pythonChecks,
  warm,
} from "./support/submissions/check-answers.ts";
import { testSeed } from "./support/test-seed.ts";

const repository = resolve(import.meta.dirname, "..");
const root = realpathSync(mkdtempSync(join(tmpdir(), "check-answers-")));
let end = () => {};
let made: string[];

before(() => {
  end = warm(root);
  made = madeFolders(join(root, "made"));
});
after(() => {
  end();
  removeFolder(root);
});

const work = () => mkdtempSync(join(root, "work-"));

/** Every `step`th of these, from a place that depends on the seed. */
function sample<T>(all: T[], count: number): T[] {
  const step = Math.max(1, Math.floor(all.length / count));
  return Array.from({ length: count }, (_, nth) => all[(testSeed + nth * step) % all.length]!);
}

function assertEqual(folders: string[]): Map<string, string> {
  const answers = new Map<string, string>();
  for (const folder of folders) {
    const { program, stages } = bothAnswers(folder, work());
    assert.equal(program, stages, `${basename(folder)}, seed ${testSeed}`);
    answers.set(basename(folder), program);
  }
  return answers;
}

test("a whole model passes, and broken ones fail as in the stages", (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const always = made.filter((folder) => /\/(tiny|nan-weights|missing-tensor|huge-config)$/.test(folder));
  const others = made.filter((folder) => !always.includes(folder));
  const answers = assertEqual([...always, ...sample(others, 1)]);
  assert.equal(answers.get("tiny"), "pass");
  assert.match(answers.get("nan-weights")!, /^fail model: non-finite/);
  assert.match(answers.get("missing-tensor")!, /^fail model: /);
});

test("folders of real libraries are answered as in the stages", () => {
  const names = ["trainer", "bf16", "slow-files", "t5", "family-llama", "quantised", "sentencepiece-only"];
  const answers = assertEqual(honestFolders(join(root, "honest"), sample(names, 2)));
  assert.equal(answers.size, 2);
});

test("hostile folders are answered as in the stages", () => {
  const quick = hostileCorpus.filter(({ large, explodes }) => !large && !explodes);
  const bomb = hostileCorpus.find(({ name }) => name === "tokenizer-replace-doubles-40-times")!;
  mkdirSync(join(root, "hostile"));
  const folders = [bomb, ...sample(quick, 3)]
    .map((one) => writeCase(join(root, "hostile"), one))
    .flatMap(({ folder, skipped }) => (skipped === undefined ? [folder] : []));
  assert.match(assertEqual(folders).get(bomb.name)!, /^fail load: tokenizer\.json: its normalizer/);
});

test("a model that looks ahead is found on public text as on private text", () => {
  const [folder, sees] = [made.find((one) => one.endsWith("/two-way-attention"))!, work()];
  assert.equal(first(causalityChecks(folder, sees)), "fail model: looks ahead");
  assert.equal(first(pythonChecks(folder, sees)), "fail model: looks ahead");
});

test("a check that its attempt's memory is too small for is undecided, not a failure", () => {
  // larger than what the warm process may have left over
  const folder = join(root, "control");
  const write = `from pathlib import Path; from mlrb_kit.random_gpt2 import write_control; write_control(Path("${folder}"), 2**27)`;
  execFileSync(testPython(), ["-c", write], { env: { ...process.env, PYTHONPATH: pythonPath(repository) } });
  const answers = pythonChecks(folder, work(), 1 << 20).map(({ answer }) => answer);
  assert.deepEqual([answers.at(-1), answers.includes("fail")], ["undecided", false]);
  assert.equal(first(pythonChecks(folder, work(), 2 ** 30)), "pass");
});
