// Failures of the scorers that run lm-eval's tasks. A model that only a larger machine can score and wrong data
// are not the submission's fault: the script fails and writes nothing. A model that cannot read the data is
// rejected.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fixtures, measure, readScore } from "../../testing/measure.ts";
import { makeSubmissions, testPython } from "../../testing/submissions.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-faults-"));
before(() => {
  testPython();
  mkdirSync(join(temporary, "submissions"));
  makeSubmissions(join(temporary, "submissions"));
});
after(() => rmSync(temporary, { recursive: true }));

for (const scorer of ["mmlu", "mmlu-permuted", "mmlu-continuation", "blimp", "super-glue-mean"]) {
  test(`${scorer} does not measure a model that is too large for this machine, and reports its size`, () => {
    const submission = copyOfTiny(`${scorer}-large`);
    truncateSync(join(submission, "model.safetensors"), 2 ** 42); // a hole: nothing of it is on disk
    const ran = score(scorer, submission, fixtures(scorer));
    assert.notEqual(ran.status, 0);
    assert.match(
      ran.said,
      /MemoryError: the model needs 4096\.\d GiB, with a batch; [\d.]+ GiB are free here/,
    );
    assert.ok(!existsSync(ran.score));
  });

  test(`${scorer} names the wrong row of the private data`, () => {
    const data = join(temporary, `${scorer}-data`);
    cpSync(fixtures(scorer), data, { recursive: true });
    const file =
      {
        blimp: "blimp/anaphor_number_agreement/train.jsonl",
        "super-glue-mean": "super_glue/wic/validation.jsonl",
      }[scorer] ?? "mmlu/anatomy/test.jsonl";
    writeFileSync(join(data, file), `${readFileSync(join(data, file), "utf8")}{"label": 7}\n`);
    const ran = score(scorer, join(temporary, "submissions/tiny"), data);
    assert.notEqual(ran.status, 0);
    assert.match(ran.said, new RegExp(`^${file}:\\d+: no field '\\w+'\\. The private data is at fault`, "m"));
    assert.ok(!existsSync(ran.score));
  });
}

test("a context that is too long for the model is cut at the start, as in lm-eval, and counted", () => {
  const ran = score("mmlu", shortSighted("short", 64), fixtures("mmlu"));
  assert.equal(ran.status, 0, ran.said);
  const found = readScore(ran.score);
  assert.ok(found.kind === "scored");
  assert.equal(found.extra.truncated, 96); // four choices of each of 24 questions
});

test("a sentence that is too long for the model is rejected", () => {
  const ran = score("blimp", shortSighted("shorter", 8), fixtures("blimp"));
  assert.equal(ran.status, 0, ran.said);
  const found = readScore(ran.score);
  assert.ok(found.kind === "rejected");
  assert.match(found.reason, /^an answer has \d+ tokens; the model reads 8$/);
});

/** The tiny model with only its first positions. */
function shortSighted(name: string, positions: number): string {
  const submission = copyOfTiny(name);
  const cut =
    "import sys, json, pathlib; from safetensors.torch import load_file, save_file\n" +
    "folder, positions = pathlib.Path(sys.argv[1]), int(sys.argv[2])\n" +
    "weights = load_file(folder / 'model.safetensors')\n" +
    "weights['transformer.wpe.weight'] = weights['transformer.wpe.weight'][:positions].contiguous()\n" +
    "save_file(weights, folder / 'model.safetensors', metadata={'format': 'pt'})\n" +
    "config = json.loads((folder / 'config.json').read_text())\n" +
    "(folder / 'config.json').write_text(json.dumps({**config, 'n_positions': positions}))\n";
  const ran = spawnSync(testPython(), ["-c", cut, submission, String(positions)], { encoding: "utf8" });
  assert.equal(ran.status, 0, ran.stderr);
  return submission;
}

function copyOfTiny(name: string): string {
  cpSync(join(temporary, "submissions/tiny"), join(temporary, name), { recursive: true });
  return join(temporary, name);
}

function score(scorer: string, submission: string, data: string) {
  return measure(scorer, mkdtempSync(join(temporary, "out-")), { submission, private: data });
}
