// What kit's Python writes and refuses around a scorer's scripts, next to what its TypeScript does. Any
// Python will do: the scorer here measures nothing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob } from "node:path";
import { type TestContext, test } from "node:test";
import { references } from "@mlrb/formats/judged/references";
import { sample } from "@mlrb/formats/judged/sample";
import { mustFollow } from "@mlrb/formats/read-format";
import { canonicalJson, readJson } from "@mlrb/kit/json-file";

const kit = import.meta.dirname;

function python(args: string[], { input = "", cwd = kit, env = {} } = {}) {
  const clean = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: "1", ...env };
  return spawnSync("python3", args, { input, cwd, env: clean, encoding: "utf8" });
}

const numbers = [
  0,
  -0,
  1,
  -1,
  5.0,
  0.1,
  1 / 3,
  1e-6,
  1e-7,
  -1.5e-7,
  123e-20,
  5e-324,
  1e15,
  1e16,
  123456789012345680000,
  1e20,
  1e21,
  1.2e21,
  1.7976931348623157e308,
  2 ** 53,
  2 ** 53 + 2,
  0.000001234,
  100,
  1200.5,
  8.027589680239048,
];

test("JSON written from Python has the bytes of JSON written from TypeScript", () => {
  const values = [
    ...numbers,
    ...Array.from({ length: 2000 }, (_, at) => Math.sin(at) * 10 ** ((at % 60) - 30)),
    {
      b: [],
      a: {},
      "10": null,
      "9": true,
      "09": false,
      "\u{1f600}": "x",
      "\uffff": '\ud800 \u2028 \u007f \u0001 \n\t\b" \\ é',
    },
    [[{ deep: [1, [2, { z: "", y: 0.5 }]] }]],
    "text",
  ];
  const said = python(
    [
      "-c",
      "import json, sys\nfrom mlrb_kit.canonical import canonical\nprint(json.dumps([canonical(v) for v in json.load(sys.stdin)]))",
    ],
    { input: JSON.stringify(values) },
  );
  assert.equal(said.status, 0, said.stderr);
  const found = JSON.parse(said.stdout) as string[];
  assert.equal(found.length, values.length);
  for (const [at, value] of values.entries()) assert.equal(found[at], canonicalJson(value, 2));
  const refused = python(["-c", "from mlrb_kit.canonical import canonical\ncanonical([float('nan')])"]);
  assert.match(refused.stderr, /ValueError: nan is not a number that JSON can hold/);
});

test("patterns of declared files match as Node's do", () => {
  const patterns = ["scorers/x/*.py", "runners/kit/python/**/*.py", "a/**", "a/?.py", "a.b/*.py"];
  const paths = [
    "scorers/x/measure.py",
    "scorers/x/y/z.py",
    "scorers/x/measure.pyc",
    "runners/kit/python/a.py",
    "runners/kit/python/b/c/a.py",
    "a/b/c",
    "a/b.py",
    "a/bc.py",
    "a.b/c.py",
    "aXb/c.py",
  ];
  const pairs = patterns.flatMap((pattern) => paths.map((path) => [path, pattern] as const));
  const said = python(
    [
      "-c",
      "import json, sys\nfrom mlrb_kit.stage import matches\nprint(json.dumps([matches(*pair) for pair in json.load(sys.stdin)]))",
    ],
    { input: JSON.stringify(pairs) },
  );
  assert.deepEqual(
    JSON.parse(said.stdout),
    pairs.map(([path, pattern]) => matchesGlob(path, pattern)),
  );
});

const measure = `
import sys
import beside
from mlrb_kit.rejected import Rejected
from mlrb_kit.score_stage import judged, score_stage

def measure(submission, private):
    what = submission.read_text()
    if what == "ours": sys.exit("our fault")
    if what == "theirs": raise Rejected("no model")
    samples = [{"id": "a", "value": beside.value if what == "good" else float("nan"), "weight": 2}]
    def score():
        if what != "good": raise Rejected("non-finite output")
        groups = {"first": {"value": 1.0, "items": 1}}
        return {"value": beside.value, "standardError": 0.0, "items": 2.0, "groups": groups, "extra": {"tied": 1}}
    return judged(samples, score)

if __name__ == "__main__":
    score_stage(measure)
`;

function scene(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-stages-"));
  t.after(() => rmSync(root, { recursive: true }));
  const scorer = join(root, "scorers/named");
  mkdirSync(scorer, { recursive: true });
  mkdirSync(join(root, "out"));
  writeFileSync(join(scorer, "measure.py"), measure);
  writeFileSync(join(scorer, "beside.py"), "value = 1e-07\n");
  const write = (name: string, text: string) => {
    writeFileSync(join(root, name), text);
    return join(root, name);
  };
  const out = (name: string) => join(root, "out", name);
  return { root, write, out };
}

const stageFile = (
  at: ReturnType<typeof scene>,
  more: object,
  admission: object = { admitted: true, reasons: [] },
) =>
  at.write(
    "stage.json",
    JSON.stringify({
      formatVersion: 1,
      stage: "score[scorer=named]",
      params: { version: 3, unit: "u", direction: "lower" },
      inputs: {
        submission: at.write("submission", "good"),
        private: at.root,
        admission: at.write("admission", JSON.stringify(admission)),
      },
      outputs: { score: at.out("score.json"), samples: at.out("samples.jsonl") },
      files: [],
      ...more,
    }),
  );

const score = (at: ReturnType<typeof scene>) =>
  python(["scorers/named/measure.py"], {
    cwd: at.root,
    env: { MLRB_STAGE: join(at.root, "stage.json"), PYTHONPATH: kit },
  });

const header = { formatVersion: 1, scorer: "named", version: 3, unit: "u", direction: "lower" };

test("a score gets the declared header around the scorer's values, and no temporary file remains", (t) => {
  const at = scene(t);
  stageFile(at, {});
  const said = score(at);
  assert.equal(said.status, 0, said.stderr);
  const groups = { first: { value: 1, items: 1 } };
  const measured = { value: 1e-7, standardError: 0, items: 2, groups, extra: { tied: 1 } };
  const found = { ...header, kind: "scored", ...measured };
  assert.equal(readFileSync(at.out("score.json"), "utf8"), `${canonicalJson(found, 2)}\n`);
  assert.equal(readFileSync(at.out("samples.jsonl"), "utf8"), '{"id": "a", "value": 1e-07, "weight": 2}\n');
  assert.deepEqual(readdirSync(join(at.root, "out")).sort(), ["samples.jsonl", "score.json"]);
});

test("a submission that was not admitted is rejected with every reason and never measured", (t) => {
  const at = scene(t);
  stageFile(at, {}, { admitted: false, reasons: [{ detail: "holds model.py" }, { detail: "é links out" }] });
  at.write("submission", "ours");
  const said = score(at);
  assert.equal(said.status, 0, said.stderr);
  const { kind, reason } = JSON.parse(readFileSync(at.out("score.json"), "utf8"));
  assert.deepEqual([kind, reason], ["rejected", "not admitted: holds model.py; é links out"]);
  assert.equal(readFileSync(at.out("samples.jsonl"), "utf8"), "");
});

test("a score that is rejected for its samples keeps them, with NaN as words", (t) => {
  const at = scene(t);
  stageFile(at, {});
  at.write("submission", "broken");
  assert.equal(score(at).status, 0);
  const found = { ...header, kind: "rejected", reason: "non-finite output" };
  assert.equal(readFileSync(at.out("score.json"), "utf8"), `${canonicalJson(found, 2)}\n`);
  assert.equal(readFileSync(at.out("samples.jsonl"), "utf8"), '{"id": "a", "value": "nan", "weight": 2}\n');
  at.write("submission", "theirs");
  assert.equal(score(at).status, 0);
  assert.match(readFileSync(at.out("score.json"), "utf8"), /"reason": "no model"/);
  assert.equal(readFileSync(at.out("samples.jsonl"), "utf8"), "");
});

test("results written by Python follow the published formats", (t) => {
  const at = scene(t);
  const schema = (name: string) => {
    const path = join(import.meta.dirname, "../../../pipelines", `${name}.schema.json`);
    return JSON.parse(readFileSync(path, "utf8")) as object;
  };
  for (const what of ["good", "broken", "theirs"]) {
    stageFile(at, {});
    at.write("submission", what);
    assert.equal(score(at).status, 0);
    mustFollow(schema("score"), readJson(at.out("score.json")), what);
    const [line] = readFileSync(at.out("samples.jsonl"), "utf8").split("\n");
    if (what === "good") mustFollow(sample, JSON.parse(line!), what);
  }
});

test("a scorer that fails leaves no score", (t) => {
  const at = scene(t);
  stageFile(at, {});
  at.write("submission", "ours");
  const said = score(at);
  assert.deepEqual([said.status, said.stderr], [1, "our fault\n"]);
  assert.ok(!existsSync(at.out("score.json")));
});

test("an undeclared file or a missing input stops the stage with a way out", (t) => {
  const at = scene(t);
  stageFile(at, { files: ["scorers/other/*.json"] });
  at.write(
    "scorers/named/measure.py",
    'from mlrb_kit.stage import read_stage\nread_stage().source_file("scorers/named/words.json")\n',
  );
  assert.equal(
    score(at).stderr,
    "score[scorer=named] uses scorers/named/words.json, which its files: does not name; add it in the pipeline, or a change of it would go unnoticed\n",
  );
  at.write("scorers/named/measure.py", measure);
  stageFile(at, { inputs: { submission: "x" } });
  assert.equal(
    score(at).stderr,
    'score[scorer=named] has no input "admission" (it has: submission); declare it in the pipeline\n',
  );
  stageFile(at, { formatVersion: 2 });
  assert.match(score(at).stderr, /stage\.json: stage context of format 2; this kit reads format 1\n$/);
});

test("an admitted submission with an undecided setting fails the stage, and is neither scored nor rejected", (t) => {
  const at = scene(t);
  const undecided = [{ code: "config", detail: 'config.json: "x" is unknown' }];
  stageFile(at, {}, { admitted: true, reasons: [], undecided });
  const said = score(at);
  assert.notEqual(said.status, 0);
  assert.match(
    said.stderr,
    /Undecided: undecided: config\.json: "x" is unknown\n {2}help: docs\/security\.md/,
  );
  assert.equal(existsSync(at.out("score.json")), false);
});

test("references run by hand from flags and write rows under the scorer's name", (t) => {
  const at = scene(t);
  at.write(
    "scorers/named/references.py",
    `from mlrb_kit.references_stage import references_stage
from mlrb_kit.rejected import Rejected
def measure(model, private):
    if model.name == "broken": raise Rejected("no model")
    return {"value": 0.25, "standardError": 0.0}, []
references_stage(lambda public, private: [{"name": "a", "value": 0.5 if public.name == "pub" else 0, "title": private.name}], measure)
`,
  );
  const run = (flags: string[]) =>
    python(["scorers/named/references.py", ...flags], { cwd: at.root, env: { PYTHONPATH: kit } });
  mkdirSync(join(at.root, "given/whole"), { recursive: true });
  mkdirSync(join(at.root, "given/broken"));
  const about = { kind: "given-model", parameters: 7 };
  at.write(
    "given/titles.json",
    JSON.stringify({
      whole: { title: "A whole one", ...about },
      broken: { title: "A broken one", ...about },
    }),
  );
  const flags = ["--input", "public=pub", "--input", "private=pri", "--input", "models=given"];
  const said = run([...flags, "--output", "rows=out/rows.json"]);
  assert.equal(said.status, 0, said.stderr);
  const known = { name: "whole", title: "A whole one", ...about, value: 0.25, standardError: 0 };
  const rejected = { name: "broken", title: "A broken one", ...about, rejected: "no model" };
  const own = { name: "a", title: "pri", value: 0.5 };
  const rows = { formatVersion: 1, scorer: "named", rows: [own, known, rejected] };
  assert.equal(readFileSync(at.out("rows.json"), "utf8"), `${canonicalJson(rows, 2)}\n`);
  mustFollow(references, rows, "rows.json");
  assert.deepEqual(readdirSync(join(at.root, "out")), ["rows.json"]);
  assert.match(run(["--param", "scorer"]).stderr, /expected NAME=VALUE, got "scorer"/);
});

test("answers are stored once; the model's fault becomes a rejection, ours leaves no answers", (t) => {
  const at = scene(t);
  at.write(
    "generate.py",
    `from mlrb_kit.answers import Prediction
from mlrb_kit.answers_stage import answers_stage
from mlrb_kit.rejected import Rejected
def write(model, private):
    what = (model / "weights").read_text()
    if what == "ours": raise OSError("no room")
    if what == "theirs": raise Rejected("non-finite output")
    return [Prediction(private.name, what, 1, 0, "tokens")]
answers_stage(write)
`,
  );
  const admission = (admitted: boolean) =>
    at.write("admission.json", JSON.stringify({ admitted, reasons: [{ detail: "holds model.py" }] }));
  const run = (inputs: string[], out: string) => {
    const flags = ["private=pri", ...inputs].flatMap((input) => ["--input", input]);
    const said = python(["generate.py", ...flags, "--output", `answers=${out}`], {
      cwd: at.root,
      env: { PYTHONPATH: kit },
    });
    const file = join(at.root, out, "answers.jsonl");
    return { ...said, text: existsSync(file) ? readFileSync(file, "utf8") : "" };
  };
  for (const what of ["good", "theirs", "ours"]) {
    mkdirSync(join(at.root, "given", what), { recursive: true });
    at.write(`given/${what}/weights`, what);
  }
  admission(true);
  const submitted = (what: string) => [`submission=given/${what}`, "admission=admission.json"];
  const good = run(submitted("good"), "out/good").text;
  assert.equal(
    good,
    '{"formatVersion": 1, "items": 1, "kind": "written"}\n' +
      '{"ended": "tokens", "name": "pri", "text": "good", "tied": 0, "tokens": 1}\n',
  );
  const theirs = run(submitted("theirs"), "out/theirs").text;
  assert.equal(theirs, '{"formatVersion": 1, "kind": "rejected", "reason": "non-finite output"}\n');
  const ours = run(submitted("ours"), "out/ours");
  assert.notEqual(ours.status, 0);
  assert.equal(ours.text, "");
  admission(false);
  const refused = run(submitted("not-there"), "out/refused");
  assert.equal(refused.status, 0, refused.stderr);
  assert.match(refused.text, /"reason": "not admitted: holds model\.py"/);

  at.write("given/titles.json", JSON.stringify({ good: {}, theirs: {} }));
  assert.equal(run(["models=given"], "out/models").status, 0);
  const models = readdirSync(join(at.root, "out/models")).sort();
  assert.deepEqual(models, ["good", "theirs"], "of the folders only those that have a title");
  assert.equal(readFileSync(join(at.root, "out/models/theirs/answers.jsonl"), "utf8"), theirs);
});
