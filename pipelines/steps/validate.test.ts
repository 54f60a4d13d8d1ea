import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { openTrajectory } from "@mlrb/agents/record/trajectory";
import type { Identity } from "@mlrb/formats/judged/identity";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { float32, safetensorsBytes } from "@mlrb/kit/safetensors/testing/safetensors-bytes";

const root = mkdtempSync(join(tmpdir(), "validate-step-"));
after(() => rmSync(root, { recursive: true }));

const rules = [
  {
    name: "size",
    title: "Small",
    method: "parameters-max",
    with: { max: 100_000 },
    source: "official",
    severity: "disqualify",
  },
  {
    name: "fresh",
    title: "From scratch",
    method: "from-scratch",
    source: "official",
    severity: "disqualify",
  },
  {
    name: "time",
    title: "In time",
    method: "time-within-budget",
    source: "official",
    severity: "disqualify",
  },
];

/** identity.json of a model that is like no known one. */
const compared: Identity = {
  ...{ formatVersion: 1, given: [], tensors: [], mixtures: [] },
  known: [{ model: "Famous", looked: 1, matches: [] }],
};

/** A small good model, changed by `change`, validated and judged. `judge` does what the stages in between do. */
async function validate(
  change: (folder: string) => void = () => {},
  given: unknown = rules,
  { data = "smoke", judge = () => {} }: { data?: string; judge?: (folder: string) => void } = {},
) {
  const folder = mkdtempSync(join(root, "v-"));
  const at = (name: string) => join(folder, name);
  for (const name of ["submission", "clean"]) mkdirSync(at(name));
  const values = Array.from(
    { length: 2048 },
    (_, index) => createHash("md5").update(`${index}`).digest().readInt16LE() / 1e6,
  );
  writeFileSync(at("submission/model.safetensors"), safetensorsBytes({ w: float32([32, 64], values) }));
  writeFileSync(at("submission/config.json"), "{}");
  writeFileSync(at("submission/tokenizer.json"), "{}");
  const trajectory = openTrajectory(at("trajectory"), { now: () => ({ wall: 0, sinceStart: 0 }) });
  trajectory.add(exampleEvent("start"));
  trajectory.add(exampleEvent("end"));
  const leftOut = [{ path: "model.safetensors", why: "symbolic link" }];
  const ledger = exampleLedger({
    wallMs: 1000,
    workingMs: 1000,
    submission: { ...exampleLedger().submission, leftOut },
    trajectory: trajectory.seal(),
  });
  trajectory.close();
  writeFileSync(at("ledger"), JSON.stringify(ledger));
  writeFileSync(at("identity"), JSON.stringify(compared));
  change(folder);
  const step = (name: string, args: string[]) =>
    promisify(execFile)(process.execPath, [`pipelines/steps/${name}.ts`, ...args]);
  const inputs = (...names: string[]) => names.flatMap((name) => ["--input", `${name}=${at(name)}`]);
  await step("validate", [
    ...inputs("submission", "ledger"),
    ...["--output", `admission=${at("admission.json")}`, "--output", `submission=${at("clean")}`],
  ]);
  judge(folder);
  await step("verdict", [
    ...inputs("submission", "trajectory", "ledger", "identity"),
    ...["--input", `admission=${at("admission.json")}`, "--output", `verdict=${at("verdict.json")}`],
    ...["--budget", "time=10m", "--param", `data=${data}`, "--param", `rules=${JSON.stringify(given)}`],
  ]);
  const read = (name: string) => JSON.parse(readFileSync(at(name), "utf8"));
  return {
    admission: read("admission.json"),
    verdict: read("verdict.json"),
    bytes: readFileSync(at("verdict.json"), "utf8"),
    clean: (name: string) => readFileSync(at(`clean/${name}`), "utf8"),
    cleanFiles: readdirSync(at("clean")).sort(),
  };
}

const answers = ({ verdict }: Awaited<ReturnType<typeof validate>>) =>
  verdict.rules.map(({ answer }: { answer: string }) => answer);

test("a good submission is admitted and passes, with its facts", async () => {
  const found = await validate();
  assert.deepEqual(found.admission, { formatVersion: 1, admitted: true, reasons: [] });
  assert.equal(found.verdict.kind, "pass");
  assert.deepEqual(answers(found), ["pass", "pass", "pass"]);
  const { bytes: _, ...facts } = found.verdict.facts;
  assert.deepEqual(facts, { parameters: 2048, dtypes: "F32", tensors: 1 });
});

const write = (name: string, value: unknown) => (folder: string) =>
  writeFileSync(join(folder, "submission", name), JSON.stringify(value));

test("scorers get the weights and rebuilt settings, and no other file", async () => {
  const found = await validate((folder) => {
    write("config.json", { model_type: "gpt2", n_layer: 1, _name_or_path: "someone/model" })(folder);
    write("notes.json", {})(folder);
    write("tokenizer_config.json", { tokenizer_file: "/etc/passwd", eos_token: "</s>" })(folder);
  });
  assert.deepEqual(found.cleanFiles, [
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
  ]);
  assert.deepEqual(JSON.parse(found.clean("config.json")), { model_type: "gpt2", n_layer: 1 });
  assert.deepEqual(JSON.parse(found.clean("tokenizer_config.json")), { eos_token: "</s>" });
  assert.deepEqual(
    found.admission.dropped.map(({ key }: { key: string }) => key),
    ["_name_or_path", "tokenizer_file"],
  );
});

test("a setting that may change the model and is unknown leaves the verdict open and nothing to load", async () => {
  const found = await validate(
    write("config.json", { model_type: "gpt2", quantization_config: { quant_method: "x" } }),
  );
  assert.equal(found.admission.admitted, true);
  assert.match(found.admission.undecided[0].detail, /"quantization_config" changes how weights are read/);
  assert.deepEqual(found.cleanFiles, []);
  assert.equal(found.verdict.kind, "pass");
  const note = found.verdict.rules.at(-1);
  assert.deepEqual([note.rule, note.answer, note.severity], ["known-settings", "undecided", "note"]);
  assert.match(note.evidence, /^config\.json: "quantization_config" changes/);
});

/** No file has such a name: asking for it throws. */
const longShard = { weight_map: { w: `${"a".repeat(300)}.safetensors` } };

test("a submission that admission throws on is rejected with the error, and still judged by the rules", async () => {
  const found = await validate((folder) => {
    rmSync(join(folder, "submission/model.safetensors"));
    write("model.safetensors.index.json", longShard)(folder);
  });
  assert.equal(found.admission.admitted, false);
  assert.match(found.admission.reasons[0].detail, /a known-good one can: .*ENAMETOOLONG.*'submission\/aaa/);
  assert.deepEqual(found.cleanFiles, []);
  assert.notEqual(found.verdict.kind, "pass");
});

test("equal submissions have identical verdicts, however long they took", async () => {
  const slower = (folder: string) => {
    const ledger = JSON.parse(readFileSync(join(folder, "ledger"), "utf8"));
    writeFileSync(join(folder, "ledger"), JSON.stringify({ ...ledger, wallMs: 7777 }));
  };
  assert.equal((await validate()).bytes, (await validate(slower)).bytes);
});

test("an empty submission is rejected and breaks no rule", async () => {
  const found = await validate((folder) => rmSync(join(folder, "submission"), { recursive: true }));
  assert.equal(found.verdict.kind, "rejected");
  assert.equal(found.admission.reasons[0].code, "empty");
  assert.deepEqual(answers(found), ["undecided", "undecided", "pass"]);
});

test("the admission of a rejected submission lists what the supervisor left out", async () => {
  const found = await validate((folder) => rmSync(join(folder, "submission/model.safetensors")));
  assert.deepEqual(found.admission.reasons, [
    { code: "no-weights", detail: "neither model.safetensors nor model.safetensors.index.json is there" },
    {
      code: "left-out",
      detail:
        '"model.safetensors": symbolic link; links are not followed: copy what it points to, with cp -L',
    },
  ]);
});

test("with a changed trajectory the time of the attempt is undecided", async () => {
  const found = await validate((folder) => appendFileSync(join(folder, "trajectory"), "{}\n"));
  assert.deepEqual(answers(found), ["pass", "pass", "undecided"]);
  assert.match(found.verdict.rules[2].evidence, /the trajectory is broken at line 3: of another format/);
});

test("a malformed ledger does not fail the stage", async () => {
  for (const text of ["", "[]", '{"formatVersion":1}', "\u0000", '{"formatVersion":1,"wallMs":"soon"}']) {
    const found = await validate((folder) => writeFileSync(join(folder, "ledger"), text));
    assert.deepEqual(answers(found), ["pass", "pass", "undecided"], text);
  }
});

test("a submission is judged only by the rules of its kind of data", async () => {
  const [size, ...others] = rules;
  const small = { ...size, with: { max: 100 }, on: ["smoke"] };
  const large = { ...size, with: { max: 100_000 }, on: ["official"] };
  const given = [small, large, ...others];
  assert.deepEqual(answers(await validate(undefined, given)), ["fail", "pass", "pass"]);
  assert.deepEqual(answers(await validate(undefined, given, { data: "official" })), ["pass", "pass", "pass"]);
  await assert.rejects(
    validate(undefined, given, { data: "7" }),
    /data is 7, not a text[\s\S]*help: .*data: smoke/,
  );
});

test("rules with an unknown method fail the stage, with the place to repair", async () => {
  await assert.rejects(
    validate(undefined, [{ ...rules[0], method: "magic" }]),
    /the task's rules:[\s\S]*no method "magic"[\s\S]*help: repair task\.yaml/,
  );
});

/** Writes into admission.json what a later stage finds. */
const finds = (found: object) => (folder: string) => {
  const path = join(folder, "admission.json");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), ...found }));
};

test("a submission that looks ahead is disqualified, with the evidence", async () => {
  const lookAhead = { verdict: "looks-ahead", detail: "it helps by 2.1 nats a token" };
  const { verdict } = await validate(undefined, rules, { judge: finds({ lookAhead }) });
  const { rule, answer, severity, evidence } = verdict.rules.at(-1);
  assert.deepEqual(
    [verdict.kind, rule, answer, severity],
    ["disqualified", "no-look-ahead", "fail", "disqualify"],
  );
  assert.equal(evidence, lookAhead.detail);
});

test("a causal submission passes, and one that was not tested is undecided", async () => {
  for (const [found, answer] of [
    ["causal", "pass"],
    ["undecided", "undecided"],
  ]) {
    const lookAhead = { verdict: found, detail: "as found" };
    const { verdict } = await validate(undefined, rules, { judge: finds({ lookAhead }) });
    assert.deepEqual([verdict.kind, verdict.rules.at(-1).answer], [answer, answer]);
  }
});

test("a causal submission that failed on one kind of text passes, and the evidence names the kind", async () => {
  const untested = [{ kind: "wikitext", detail: "it reads 130 tokens at once" }];
  const lookAhead = { verdict: "causal", detail: "as found", untested };
  const { verdict } = await validate(undefined, rules, { judge: finds({ lookAhead }) });
  const { answer, evidence } = verdict.rules.at(-1);
  assert.equal(answer, "pass");
  assert.equal(evidence, "as found; not tested on wikitext: it reads 130 tokens at once");
});

test("a tokenizer that rewrites letters or holds scored texts is noted, and disqualifies no one", async () => {
  const tokenizer = { answer: "fail", detail: "tokenizer.json holds letters of 3 of 80 scored texts" };
  const { verdict } = await validate(undefined, rules, { judge: finds({ tokenizer }) });
  const { rule, answer, severity, evidence } = verdict.rules.at(-1);
  assert.deepEqual([verdict.kind, rule, answer, severity], ["pass", "plain-tokenizer", "fail", "note"]);
  assert.equal(evidence, tokenizer.detail);
});

test("a model is marked as not scorable only if its family is the reason", async () => {
  const family = { code: "not-scorable", detail: "t5" };
  const leftOut = { code: "left-out", detail: "a link" };
  const other = { code: "weights", detail: "there are none" };
  for (const [reasons, marked] of [
    [[family], true],
    [[family, leftOut], true],
    [[family, other], undefined],
    [[leftOut], undefined],
    [[other], undefined],
  ] as const) {
    const { verdict } = await validate(undefined, rules, { judge: finds({ admitted: false, reasons }) });
    assert.deepEqual([verdict.kind, verdict.notScorable], ["rejected", marked], JSON.stringify(reasons));
  }
});

test("a submission that was refused when it was loaded is rejected", async () => {
  const refused = { admitted: false, reasons: [{ code: "load", detail: "needs 9 GiB" }] };
  const { verdict } = await validate(undefined, rules, { judge: finds(refused) });
  assert.equal(verdict.kind, "rejected");
});
