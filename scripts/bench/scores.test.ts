// The bench of scores measures what a pipeline runs: its pipeline can be planned, and observation changes no
// score.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob } from "node:path";
import { after, test } from "node:test";
import { pythonFolders } from "@mlrb/kit/python-path";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { PythonImports } from "@mlrb/local/digests/python-imports";
import {
  fixtures,
  measure,
  measureParams,
  stageFlags,
  writeAdmission,
} from "../../scorers/testing/measure.ts";
import { testPython } from "../../scorers/testing/submissions.ts";
import { readNotes } from "./score-jobs.ts";
import { scoreFiles, scorersTogether, scoreScript, scoresPipeline } from "./scores-together.ts";
import { pipeline, repository, run } from "./tools.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-bench-test-"));
after(() => rmSync(temporary, { recursive: true, force: true }));

test("the bench's pipeline plans two scores of each of 14 models", () => {
  // a pipeline must be a file of the repository
  const folder = join(import.meta.dirname, `../../.mlrb/bench/test-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "bench-scores.yaml");
  writeFileSync(file, scoresPipeline({ tokenizer: "/nowhere", round: 0, scorers: scorersTogether }));
  const said = pipeline("plan", file, "--root", temporary, "--json").trimEnd().split("\n");
  const lines = said.map((line) => JSON.parse(line) as { name?: string; stage?: string });
  const scores = lines.filter(({ name }) => name === "score").map(({ stage }) => stage);
  assert.equal(new Set(scores).size, 28);
});

test("the bench's pipeline declares every file that a scorer's measure.py imports", () => {
  const imports = new PythonImports({
    root: repository,
    folders: pythonFolders(repository),
    memory: temporary,
    consulted: new Consulted(repository),
    digestOf: () => "same",
  });
  const own = new Set(imports.of(scoreScript));
  for (const scorer of scorersTogether) {
    const declared = scoreFiles.map((pattern) => pattern.replace("{scorer}", scorer));
    const undeclared = imports
      .of(`scorers/${scorer}/measure.py`)
      .filter((file) => !own.has(file) && !declared.some((pattern) => matchesGlob(file, pattern)));
    assert.deepEqual(undeclared, [], scorer);
  }
});

test("a score that the bench observes has the bytes of an unobserved score", () => {
  const submission = join(temporary, "tiny");
  const make = [
    'import pathlib, sys; sys.path.insert(0, "scorers/testing")',
    "from make_submissions import write_tiny; write_tiny(pathlib.Path(sys.argv[1]))",
  ];
  run(testPython(), ["-c", make.join("\n"), submission]);
  const scorer = "bits-per-byte";
  const plain = measure(scorer, join(temporary, "plain"), { submission });
  assert.equal(plain.status, 0, plain.said);

  const folder = join(temporary, "watched");
  mkdirSync(folder);
  const output = { score: join(folder, "score.json"), samples: join(folder, "samples.jsonl") };
  const param = { ...measureParams(scorer), measure: `scorers/${scorer}/measure.py` };
  const input = { submission, private: fixtures(scorer), admission: writeAdmission(folder) };
  const said = run(testPython(), ["scripts/bench/measure.py", ...stageFlags({ param, input, output })]);
  assert.equal(readFileSync(output.score, "utf8"), readFileSync(plain.score, "utf8"));
  assert.equal(readFileSync(output.samples, "utf8"), readFileSync(plain.samples, "utf8"));
  const [noted, ...more] = readNotes(said);
  assert.equal(more.length, 0);
  assert.ok(noted!.computeSeconds > 0 && noted!.heldBytes > 0 && noted!.begun * 1000 < Date.now());
});
