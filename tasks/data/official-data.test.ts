import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { pythonPath } from "@mlrb/kit/python-path";
import { parquetWriteFile } from "hyparquet-writer";
import { testPython } from "../../scorers/testing/submissions.ts";
import { warmArguments } from "../../tests/support/warm-python.ts";
import { hubConfigs, hubRows } from "./hub-rows.ts";

const repository = join(import.meta.dirname, "../..");

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "mlrb-official-"));
  t.after(() => removeFolder(made));
  return made;
}

function writeParquet(path: string, columns: Record<string, unknown[]>): void {
  mkdirSync(dirname(path), { recursive: true });
  const columnData = Object.entries(columns).map(([name, data]) => ({ name, data }));
  parquetWriteFile({ filename: path, columnData });
}

test("the card names the files of each config and split, and other files belong to none", async (t) => {
  const at = folder(t);
  writeParquet(join(at, "x/a-0.parquet"), { text: ["one", "two"], label: [1n, 0n] });
  writeParquet(join(at, "x/a-1.parquet"), { text: ["three"], label: [2n] });
  writeParquet(join(at, "old/test-0.parquet"), { text: ["old"] });
  writeFileSync(
    join(at, "README.md"),
    `---
license: mit
configs:
  - config_name: main
    data_files:
      - { split: test, path: "x/a-*" }
      - { split: none, path: "y/*" }
---
# A card`,
  );
  const configs = hubConfigs(at);
  assert.deepEqual(
    [...configs].map(([name, splits]) => [name, [...splits.keys()]]),
    [["main", ["test"]]],
  );
  assert.deepEqual(await hubRows(at, configs.get("main")!.get("test")!), [
    { text: "one", label: 1 },
    { text: "two", label: 0 },
    { text: "three", label: 2 },
  ]);
});

test("without configs in the card the folders name them, of Parquet and of JSON Lines", async (t) => {
  const at = folder(t);
  writeParquet(join(at, "data/train-00000-of-00001.parquet"), { text: ["one"] });
  mkdirSync(join(at, "wsc.fixed"));
  writeFileSync(join(at, "wsc.fixed/validation.jsonl"), '{"text": "two"}\n\n');
  writeFileSync(join(at, "README.md"), "# No front matter");
  const configs = hubConfigs(at);
  assert.deepEqual(
    [...configs].map(([name, splits]) => [name, [...splits]]),
    [
      ["default", [["train", ["data/train-00000-of-00001.parquet"]]]],
      ["wsc.fixed", [["validation", ["wsc.fixed/validation.jsonl"]]]],
    ],
  );
  assert.deepEqual(await hubRows(at, ["wsc.fixed/validation.jsonl"]), [{ text: "two" }]);
  const empty = folder(t);
  writeFileSync(join(empty, "LICENSE"), "");
  assert.throws(() => hubConfigs(empty), /holds no Parquet or JSON Lines file that belongs to a split/);
});

/** Runs a task's data script on a manifest with these downloads. */
function official(at: string, task: string, downloads: Record<string, string | undefined>) {
  const members = Object.entries(downloads).map(([source, path]) => ({
    stage: `download[task=${task},source=${source}]`,
    name: "download",
    axes: { task, source },
    outcome: path === undefined ? "failed" : "succeeded",
    cause: path === undefined ? "the hub refuses access" : "",
    artifacts: path === undefined ? {} : { files: { digest: "d", kind: "dir", path } },
  }));
  writeFileSync(join(at, "manifest.json"), JSON.stringify({ formatVersion: 1, members }));
  for (const name of ["public", "private"]) mkdirSync(join(at, name));
  const flags = ["--param", "source=official", "--input", `manifest=${join(at, "manifest.json")}`];
  const outputs = ["public", "private"].flatMap((name) => ["--output", `${name}=${join(at, name)}`]);
  const script = join(repository, `tasks/${task}/data.ts`);
  return spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", script, ...flags, ...outputs],
    {
      encoding: "utf8",
    },
  );
}

const below = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

function writeWikitext(at: string): void {
  writeParquet(join(at, "wikitext/wikitext-2-raw-v1/test-0.parquet"), { text: ["", " = A title = \n"] });
}

test("agents get the data set under the hub's name and nothing of the evaluation set, which is private whole", (t) => {
  const at = folder(t);
  writeParquet(join(at, "babylm/data/train-0.parquet"), { filename: ["a"], content: ["A text."] });
  for (let paradigm = 0; paradigm < 67; paradigm++)
    writeParquet(join(at, `blimp/paradigm_${paradigm}/train-0.parquet`), {
      sentence_good: [`Good ${paradigm}.`],
      sentence_bad: [`Bad ${paradigm}.`],
    });
  writeWikitext(at);
  const said = official(at, "baby-lm", { babylm: "babylm", blimp: "blimp", "wikitext-2": "wikitext" });
  assert.equal(said.status, 0, said.stderr);
  const open = below(join(at, "public"));
  assert.deepEqual(open, [join(at, "public/AlgorithmicResearchGroup/babylm/data/train-0.parquet")]);
  assert.ok(readFileSync(open[0]!).equals(readFileSync(join(at, "babylm/data/train-0.parquet"))));
  assert.equal(below(join(at, "private/blimp")).length, 67);
  assert.equal(
    readFileSync(join(at, "private/blimp/paradigm_5/train.jsonl"), "utf8"),
    '{"sentence_bad":"Bad 5.","sentence_good":"Good 5."}\n',
  );
  assert.equal(
    readFileSync(join(at, "private/wikitext/wikitext-2-raw-v1/test.jsonl"), "utf8"),
    '{"text":""}\n{"text":" = A title = \\n"}\n',
  );
});

test("the training rows of math-reasoning are public and its test rows private, grouped by overlap", (t) => {
  const at = folder(t);
  const columns = (rows: [string | null, string | null, string][]) => ({
    name: rows.map(([name]) => name),
    informal_statement: rows.map(([, statement]) => statement),
    informal_proof: rows.map(() => null),
    formal_proof: rows.map(([, , formal]) => formal),
  });
  const train: [string, string, string][] = [
    ["sum", "One and one is two.", "theorem sum : 1 + 1 = 2 := rfl"],
  ];
  writeParquet(join(at, "train/data/train-0.parquet"), columns(train));
  writeParquet(
    join(at, "test/data/test-0.parquet"),
    columns([
      ["t", "One  and one is two.", "theorem t : 1 + 1 = 2 := by simp"],
      ["t", "A group is abelian.", "theorem t : comm := h"],
      ["empty", null, "theorem empty : true := trivial"],
      [null, "No name.", "theorem nameless : true := trivial"],
    ]),
  );
  writeWikitext(at);
  const said = official(at, "math-reasoning", {
    "math-reasoning": "train",
    "math-reasoning-test": "test",
    "wikitext-2": "wikitext",
  });
  assert.equal(said.status, 0, said.stderr);
  assert.match(said.stdout, /^2 test items: 1 same-statement, 1 new; 2 rows are left out$/m);
  const [set, name] = ["AlgorithmicResearchGroup", "math_reasoning_autoformalization_track"];
  assert.deepEqual(below(join(at, "public")).sort(), [
    join(at, "public", set!, name!, "data/train-0.parquet"),
    join(at, "public/train.jsonl"),
  ]);
  const rows = (file: string) =>
    readFileSync(join(at, file), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  assert.deepEqual(
    rows("private/math/test.jsonl").map((row) => [row.name, row.group, row.informal_proof]),
    [
      ["t", "same-statement", ""],
      ["t #2", "new", ""],
    ],
  );
  assert.deepEqual(rows("private/wikitext/wikitext-2-raw-v1/test.jsonl")[1], { text: " = A title = \n" });
  assert.deepEqual(
    rows("public/train.jsonl").map((row) => row.name),
    ["sum"],
  );
  const settings = JSON.parse(readFileSync(join(at, "private/math/settings.json"), "utf8"));
  assert.deepEqual(settings.generation, { maxNewTokens: 1024, secondsPerItem: 60 });
  const { seconds, secondsAll, memoryBytes } = settings.lean3;
  assert.deepEqual([seconds, secondsAll, memoryBytes], [120, 25_200, 4e9]);
  const other = folder(t);
  writeParquet(join(other, "set/data/test-0.parquet"), columns(train));
  const lacking = official(other, "math-reasoning", {
    "math-reasoning": "set",
    "math-reasoning-test": "set",
  });
  assert.match(lacking.stderr, /math-reasoning has no split train, only test/);
});

test("a missing download, a set with other configs, and a config without the split are refused", (t) => {
  const failed = folder(t);
  assert.match(
    official(failed, "baby-lm", { babylm: undefined, blimp: undefined }).stderr,
    /the source babylm is not downloaded: the hub refuses access; run the pipeline without --only/,
  );
  const few = folder(t);
  writeParquet(join(few, "mmlu/anatomy/test-0.parquet"), { question: ["q"] });
  assert.match(
    official(few, "llm-efficiency", { mmlu: "mmlu" }).stderr,
    /mmlu has 1 configs, expected 57: anatomy/,
  );
  const other = folder(t);
  for (let subject = 0; subject < 57; subject++)
    writeParquet(join(other, `mmlu/s${subject}/dev-0.parquet`), { question: ["q"] });
  assert.match(
    official(other, "llm-efficiency", { mmlu: "mmlu" }).stderr,
    /mmlu: s0 has no split test, only dev/,
  );
});

test("SuperGLUE's nested and compressed columns arrive as the scorer reads them", (t) => {
  const at = folder(t);
  const python = (...words: string[]) => {
    const program = join(import.meta.dirname, "testing/super_glue_files.py");
    const env = { ...process.env, PYTHONPATH: pythonPath(repository) };
    const ran = spawnSync(testPython(), warmArguments([program, ...words]), { encoding: "utf8", env });
    assert.equal(ran.status, 0, ran.stderr);
    return ran.stdout;
  };
  python("write", join(at, "glue"));
  writeParquet(join(at, "pile/data/train-0.parquet"), { text: ["A text."] });
  writeWikitext(at);
  const said = official(at, "mini-pile", {
    minipile: "pile",
    "super-glue": "glue",
    "wikitext-2": "wikitext",
  });
  assert.equal(said.status, 0, said.stderr);
  const read = JSON.parse(python("read", join(at, "private")));
  assert.equal(Object.keys(read).length, 8);
  const idx = { paragraph: 7, passage: 8, question: 9 };
  const record = {
    passage: "A text: é.",
    query: "A text: é.",
    entities: ["one", "two"],
    answers: ["one", "two"],
    idx,
  };
  assert.deepEqual(read.record, [record, record]);
  assert.equal(read.boolq[0].label, 1);
});
