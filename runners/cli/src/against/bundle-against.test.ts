import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mock, type TestContext, test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { outlineOf } from "../bundle/differing-parts.ts";
import { withoutRowIds } from "../bundle/redact-rows.ts";
import { bundledFile, writeArchive } from "../bundle/write-archive.ts";
import { axes, dataId, digest, Runs, scoreId, validateId } from "../testing/compared-runs.ts";
import { bundleAgainst } from "./report-against.ts";

const first = "20260101T000000Z-a";
const second = "20260102T000000Z-b";
const none = { record: null, script: "", params: [], files: [], inputs: [], outputs: [], environment: null };
const ran = { run: first, stage: "", startedAt: "", durationMs: 1, executor: "local", host: "h" };
const scoreAxes = { ...axes, scorer: "bits" };

/** Texts of the bundle's files that are other ones, or are left out. */
type Texts = Record<string, string | undefined>;

/** Archives the last results of `runs`, as `report --bundle` lays them out. */
function bundleOf(t: TestContext, runs: Runs, report: Report, others: Texts = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "against-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { last, actions, store } = runs.at.open();
  const entry = actions.get(last.get(scoreId)!.key)!;
  const { score, samples } = entry.outputs as Record<string, { kind: "file"; digest: string }>;
  const path = "members/0000/samples.jsonl";
  const member = { stage: scoreId, name: "score", role: "score", axes: scoreAxes, outcome: "succeeded" };
  const artifacts = { score, samples: { ...samples, path } };
  const inputs = outlineOf(entry).inputs.map((one) => {
    const [from, output] = one.name === "clean" ? [validateId, "clean"] : [dataId, "private"];
    return { ...one, from, output };
  });
  const outputs = Object.entries(entry.outputs).map(([name, one]) => ({ name, digest: one.digest }));
  const made = { ...none, ...outlineOf(entry), inputs, outputs, ran, again: "" };
  const instance = (id: string, more: object) => ({
    ...{ id, stage: "s", axes: {}, outcome: "succeeded", reasons: [], said: [] },
    made: { ...none, key: id, ran, again: "" },
    ...more,
  });
  const instances = [
    instance(dataId, {}),
    instance(validateId, { made: null }),
    instance(scoreId, { role: "score", axes: scoreAxes, made }),
  ];
  const page = { formatVersion: 1, commit: null, graph: "<svg/>", instances, attempts: [] };
  const texts: Texts = {
    "manifest.json": JSON.stringify({ formatVersion: 1, members: [{ ...member, cause: "", artifacts }] }),
    [path]: withoutRowIds(store.textOf(samples!.digest)),
    "page.json": JSON.stringify(page),
    "results/report.json": JSON.stringify(report),
    ...others,
  };
  const names = Object.keys(texts).filter((name) => texts[name] !== undefined);
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), texts[name]!);
  }
  const files = names.map((name) => bundledFile(folder, name, new Map()));
  const about = { formatVersion: 1, pipeline: "small", profile: "smoke", selection: "" } as const;
  const file = join(folder, "old.tar");
  writeArchive(file, { bundle: { ...about, signed: false, files }, folder });
  return file;
}

type Ran = Omit<Parameters<Runs["add"]>[0], "run">;

/** A bundle of one machine, and the results of another. */
function elsewhere(t: TestContext, { old, now, others }: { old: Ran; now: Ran; others?: Texts }) {
  const there = new Runs(t);
  const file = bundleOf(t, there, there.add({ run: first, ...old }), others);
  const here = new Runs(t);
  const report = here.add({ run: second, ...now });
  return { file, here, report };
}

const oneLine = (text: string) => text.replace(/\s+/g, " ");

test("another submission than in a bundle is tested on its items, whose ids are digests there", (t) => {
  const { file, here } = elsewhere(t, {
    old: { level: 3 },
    now: { level: 2.5, submission: digest("6") },
  });
  assert.ok(!readFileSync(file).includes("document-"), "the bundle names a row");
  const { code, out, err } = here.compare(file);
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /^\nCompared with bundle .*old\.tar\n/);
  assert.match(oneLine(out), /yes \(−0\.500 ± 0, │ too few attempts │ .*25 items\)/);
  assert.match(out, /another submission \(5{10} → 6{10}\)\n/);
  assert.match(out, /old\.tar: every byte as listed; unsigned: nothing says who made it\nup to date\n$/);
});

test("other data than in a bundle of another machine are the cause, and nothing is tested", (t) => {
  const { file, here } = elsewhere(t, {
    old: { level: 3 },
    now: { level: 2.5, submission: digest("6"), data: digest("e") },
  });
  const { out } = here.compare(file);
  assert.match(oneLine(out), /score: input changed: private \(d{10} → e{10}\)/);
  assert.match(out, /item noise not tested: measured in another way/);
});

test("a bundle names no code: other scores of the same files are due to code or host", (t) => {
  const { file, here } = elsewhere(t, { old: { level: 3 }, now: { level: 2.9, scorer: "2" } });
  const { out } = here.compare(file);
  assert.match(oneLine(out), /rescored 1 of 1 scores: bits.*score: code or host changed: keys \(/);
});

test("where the cache holds the entries behind a bundle, the code that changed is named", (t) => {
  const runs = new Runs(t);
  const file = bundleOf(t, runs, runs.add({ run: first, level: 3 }));
  runs.add({ run: second, level: 2.9, scorer: "2" });
  assert.match(runs.compare(file).out, /score: code changed: measure\.py \(1{10} → 2{10}\)/);
});

test("a bundle without keys or samples is compared, and says what it lacks", (t) => {
  const others = { "page.json": "\u001b[2J", "manifest.json": undefined };
  const now = { level: 2.5, submission: digest("6") };
  const { file, here } = elsewhere(t, { old: { level: 3 }, now, others });
  const { code, out } = here.compare(file);
  assert.equal(code, 0);
  assert.match(oneLine(out), /not tested: no seed has two valid scores .*old\.tar holds no samples of it/);
  assert.match(out, /old\.tar names no samples: the bundle has no manifest\.json$/m);
  assert.match(out, /old\.tar names no action keys: [^\u001b]+$/m);
  assert.ok(!out.includes("\u001b"), "an escape sequence");
  const [line] = here.compare(file, { json: true }).out.trim().split("\n").slice(-1);
  assert.match(JSON.parse(line!).notes[0], /unsigned/);
});

test("a bundle is compared with a bundle, without a plan", (t) => {
  const { file, here, report } = elsewhere(t, {
    old: { level: 3 },
    now: { level: 2.5, submission: digest("6") },
  });
  const from = bundleOf(t, here, report);
  const said = { out: [] as string[], err: [] as string[] };
  const out = mock.method(process.stdout, "write", (text: string) => said.out.push(text) > 0);
  const err = mock.method(process.stderr, "write", (text: string) => said.err.push(text) > 0);
  const options = { json: false, markdown: false };
  const results = join(here.at.root, "made");
  const codes = [
    bundleAgainst(here.at.root, { from, against: file, options }),
    bundleAgainst(here.at.root, { from: results, against: file, options }),
    bundleAgainst(here.at.root, { from, against: "yesterday", options }),
  ];
  out.mock.restore();
  err.mock.restore();
  assert.deepEqual(codes, [0, 2, 2]);
  assert.match(oneLine(said.out.join("")), /yes \(−0\.500 ± 0,.*25 items\)/);
  assert.match(said.err.join(""), /^no-bundle: .*made is no evidence bundle\n {2}help: /);
  assert.match(said.err.join(""), /^no-such-result: "yesterday" is no file and no folder\n {2}help: /m);
});

test("a changed byte of a bundle is refused with its file, whether or not its name is known", (t) => {
  const { file, here } = elsewhere(t, { old: { level: 3 }, now: { level: 3 } });
  const whole = readFileSync(file);
  const renamed = join(dirname(file), "evidence");
  for (const [place, name, to] of [
    [whole.indexOf('"members"'), "manifest.json, within bytes", file],
    [whole.indexOf('"members"'), "manifest.json, within bytes", renamed],
    [2, "bundle.json, in its tar header", file],
  ] as const) {
    const bytes = Buffer.from(whole);
    bytes[place] = bytes[place]! ^ 1;
    writeFileSync(to, bytes);
    const { code, out, err } = here.compare(to);
    assert.deepEqual([code, out], [2, ""]);
    assert.ok(err.startsWith(`changed: ${name}`), err);
    assert.match(err, /^changed-bundle: .*\n {2}help: get the bundle again from its author\n$/m);
  }
  writeFileSync(file, "no archive");
  assert.match(here.compare(file).err, /^changed-bundle: .*there is no bundle\.json at its beginning/);
});

test("a bundle without a report of this version is refused", (t) => {
  const others = { "results/report.json": undefined };
  const { file, here } = elsewhere(t, { old: { level: 3 }, now: { level: 3 }, others });
  const { code, err } = here.compare(file);
  assert.equal(code, 2);
  assert.match(err, /^no-report: .*old\.tar has no report of this version \(the bundle has no results\//);
});
