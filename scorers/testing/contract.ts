// The contract of every scorer, new ones included: each folder with a scorer.yaml is tested. The folder has
// fixtures/private/ (private data in the scorer's format) and fixtures/contract.json:
//   baseline    the score of a model that knows nothing on that data
//   scored   the broken submissions that the measure allows to be scored
//   tiny     the score of the whole submission, to be reproduced within a millionth, or within `within` where the
//            number depends on the machine
//   generate the script that lets a submission write the answers, for a scorer that reads no model
//   command  a stand-in for the program that the scorer starts, for a scorer that measures nothing without one
import assert from "node:assert/strict";
import { hash } from "node:crypto";
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
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import type { ScorerManifest } from "@mlrb/formats/declared/scorer";
import { sample } from "@mlrb/formats/judged/sample";
import type { Score } from "@mlrb/formats/judged/score";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import { filesBelow } from "../../tests/support/lab.ts";
import { testSeed } from "../../tests/support/test-seed.ts";
import {
  answersScript,
  fixtures,
  lookingAhead,
  measure,
  measuredFiles,
  readScore,
  referenceRows,
  scorerManifest,
} from "./measure.ts";
import { makeSubmissions, testPython } from "./submissions.ts";

type Contract = {
  baseline: number;
  scored: string[];
  tiny: { value: number; standardError: number; items: number; within?: number };
};

const here = resolve(import.meta.dirname, "..");
const temporary = mkdtempSync(join(tmpdir(), "mlrb-scorers-"));
const models = join(temporary, "submissions");

/** Every scorer of the repository. */
export const scorers = readdirSync(here).filter((name) => existsSync(join(here, name, "scorer.yaml")));

/**
 * Scorers that get all broken submissions in the default tier: one reads a model's losses, one judges a model's
 * texts, one runs lm-eval. The others get them in the thorough tier.
 */
export const sampled: readonly string[] = ["bits-per-byte", "bleu", "blimp"];

/** Call it once in a test file, before the tests. */
export function prepareSubmissions(): void {
  before(() => {
    console.log(`samples of the broken submissions with MLRB_TEST_SEED=${testSeed}`);
    testPython();
    mkdirSync(models);
    makeSubmissions(models);
  });
  after(() => rmSync(temporary, { recursive: true }));
}

function contractOf(scorer: string) {
  const manifest = scorerManifest(scorer);
  const contract = readJson(join(here, scorer, "fixtures/contract.json")) as Contract;
  const measured = (name: string) => measuredFiles(join(temporary, scorer, name));
  type Given = Parameters<typeof measure>[2];
  const score = (name: string, given: Given) =>
    measure(scorer, join(temporary, scorer, name), {
      ...given,
      submission: join(models, given.submission),
    });
  return { manifest, contract, measured, score };
}

/** Tests with a whole submission, one that was not admitted, missing data and missing answers. */
export function testContract(scorer: string): void {
  describe(`scorer ${scorer}`, () => {
    const { manifest, contract, measured, score } = contractOf(scorer);

    test("is described under its folder's name", () => assert.equal(manifest.name, scorer));

    test("has its trivial baseline and the tiny model's score within its range", () => {
      const [least, most] = manifest.range ?? [Number.NEGATIVE_INFINITY, null];
      for (const value of [contract.baseline, contract.tiny.value])
        assert.ok(value >= least && value <= (most ?? Number.POSITIVE_INFINITY), `${value}`);
    });

    test("returns the pinned score for the tiny model", () => {
      const once = score("tiny", { submission: "tiny", fresh: manifest.hostSensitive === true });
      assert.equal(once.status, 0, once.said);
      const found = readScore(once.score);
      assert.ok(found.kind === "scored");
      const tolerance = contract.tiny.within ?? 1e-6;
      for (const key of ["value", "standardError", "items"] as const)
        assert.ok(Math.abs(found[key] - contract.tiny[key]) <= tolerance, `${key}: ${found[key]}`);
      assert.equal(found.version, manifest.version);
      assert.equal(found.direction, manifest.direction);
      assert.doesNotMatch(readFileSync(once.score, "utf8"), new RegExp(temporary), "a path of this machine");
      const samples = readFileSync(once.samples, "utf8").trimEnd().split("\n");
      assert.equal(samples.length, contract.tiny.items);
      for (const line of samples) mustFollow(sample, JSON.parse(line), once.samples);
    });

    test("rejects a submission that was not admitted, without opening it", () => {
      const reasons = [{ code: "code", detail: "holds model.py" }];
      const ran = score("refused", {
        submission: "not-there",
        admission: { formatVersion: 1, admitted: false, reasons },
      });
      assert.equal(ran.status, 0, ran.said);
      const found = readScore(ran.score);
      assert.equal(found.kind === "rejected" && found.reason, "not admitted: holds model.py");
      assert.equal(readFileSync(ran.samples, "utf8"), "");
    });

    if (answersScript(scorer) !== undefined) {
      test("judges the answers and opens no model", () => {
        const answers = join(temporary, scorer, "tiny/answers");
        const ran = score("modelless", { submission: "not-there", answers });
        assert.equal(ran.status, 0, ran.said);
        const tiny = measured("tiny");
        assert.equal(readFileSync(ran.score, "utf8"), readFileSync(tiny.score, "utf8"));
        assert.equal(readFileSync(ran.samples, "utf8"), readFileSync(tiny.samples, "utf8"));
      });

      test("fails instead of rejecting when answers are missing or incomplete, with a remedy", () => {
        const half = join(temporary, scorer, "half");
        mkdirSync(half);
        const none = score("answerless", { submission: "tiny", answers: half });
        assert.notEqual(none.status, 0);
        assert.match(none.said, /name the script that lets it write as `generate` in task\.yaml/);
        const lines = readFileSync(join(temporary, scorer, "tiny/answers/answers.jsonl"), "utf8").split("\n");
        writeFileSync(join(half, "answers.jsonl"), `${lines.slice(0, -2).join("\n")}\n`);
        const some = score("half-answered", { submission: "tiny", answers: half });
        assert.notEqual(some.status, 0);
        assert.match(some.said, /holds \d+ of \d+ answers: generate the answers again/);
        for (const { score } of [none, some]) assert.ok(!existsSync(score), "it wrote a score");
      });
    }

    test("fails instead of rejecting when the private data is missing", () => {
      const answers = join(temporary, scorer, "tiny/answers"); // whole ones, where it reads any
      const ran = score("dataless", { submission: "tiny", private: join(temporary, "nothing"), answers });
      assert.notEqual(ran.status, 0);
      assert.ok(!existsSync(ran.score), "it wrote a score");
    });
  });
}

/** Broken submissions that every scorer gets. */
const compared = ["tiny", "random-weights", "two-way-attention"];

/** A random share of the names, at least one. */
function drawn(scorer: string, names: string[], share: number): string[] {
  const order = (name: string) => hash("sha256", `${testSeed} ${scorer} ${name}`);
  return names.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)).slice(0, Math.ceil(share * names.length));
}

/** The share of the other submissions that a scorer gets: less where each of them starts a fresh Python. */
function shareOf(scorer: string, { programs, hostSensitive }: ScorerManifest): number {
  if (process.env.MLRB_TEST_SUBMISSIONS === "full") return 1;
  if (programs === true && hostSensitive) return 1 / 4;
  return sampled.includes(scorer) ? 1 : 1 / 2;
}

/** Folders of answers by script, private data and submission: in a pipeline, scorers share answers too. */
const sharedAnswers = new Map<string, string>();

function answersKey(scorer: string, submission: string): string | undefined {
  const script = answersScript(scorer);
  return script && JSON.stringify([script, submission, filesBelow(fixtures(scorer))]);
}

/** Tests with every broken submission, and reference models: minutes for all scorers. */
export function testBrokenSubmissions(scorer: string): void {
  describe(`scorer ${scorer}, broken submissions`, () => {
    const { manifest, contract, measured, score } = contractOf(scorer);
    const better = (one: number, other: number) =>
      manifest.direction === "higher" ? one > other + 1e-9 : one < other - 1e-9;

    test("lets no broken model win, never fails on one, and writes the same bytes twice", () => {
      const all = readdirSync(models);
      const others = all.filter((name) => !compared.includes(name));
      const always = all.filter((name) => compared.includes(name));
      const names = [...always, ...drawn(scorer, others, shareOf(scorer, manifest))].sort();
      assert.ok(names.length > always.length);
      const results = new Map<string, Score>();
      for (const name of names) {
        const key = answersKey(scorer, name);
        const answers = key && sharedAnswers.get(key);
        const ran = score(join("broken", name), {
          submission: name,
          ...(answers && { answers }),
          ...(name === "two-way-attention" && { admission: lookingAhead }),
        });
        assert.equal(ran.status, 0, `${name} made the scorer fail: ${ran.said}`);
        if (key && !answers) sharedAnswers.set(key, join(temporary, scorer, "broken", name, "answers"));
        results.set(name, readScore(ran.score));
      }
      const untrained = results.get("random-weights")!;
      for (const [name, result] of results) {
        assert.ok(result.kind !== "not-measured", `${name} was not measured`);
        if (result.kind === "rejected") {
          assert.ok(!contract.scored.includes(name) && name !== "tiny", `${name}: ${result.reason}`);
          assert.match(result.reason, /\S/);
          assert.ok(!result.reason.includes(temporary), `${name}: a path of this machine: ${result.reason}`);
        } else if (name !== "tiny") {
          assert.ok(contract.scored.includes(name), `${name} was scored: ${result.value}`);
          const gain = (result.value - contract.baseline) * (manifest.direction === "higher" ? 1 : -1);
          // looking ahead breaks no answer of one letter, so such a model is an untrained one with its luck
          const sound = name === "two-way-attention" && manifest.scoredText === undefined;
          const luck = sound ? 2 * result.standardError : 0;
          assert.ok(gain <= luck + 1e-9, `${name} beats the trivial baseline: ${result.value}`);
          const others = untrained.kind === "scored" && !manifest.hostSensitive && name !== "lossy-tokenizer";
          if (others && !sound)
            assert.ok(!better(result.value, untrained.value), `${name} beats random weights`);
        }
      }
      if (manifest.hostSensitive) return;
      const [tiny, again] = [score("again", { submission: "tiny" }), measured("broken/tiny")];
      assert.equal(readFileSync(again.score, "utf8"), readFileSync(tiny.score, "utf8"));
      assert.equal(readFileSync(again.samples, "utf8"), readFileSync(tiny.samples, "utf8"));
    });

    test("measures reference models like submissions, and adds its own rows", () => {
      const { rows } = referenceRows(scorer, join(temporary, scorer, "references"), {
        known: join(models, "tiny"),
        broken: join(models, "nan-weights"),
      });
      assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
      assert.ok(rows.every(({ title, kind }) => title !== "" && kind !== undefined));
      const known = rows.find(({ name }) => name === "known");
      assert.ok(known && "value" in known, "no row of the tiny model");
      assert.ok(
        Math.abs(known.value - contract.tiny.value) <= (contract.tiny.within ?? 1e-6),
        `${known.value}`,
      );
      const broken = rows.find(({ name }) => name === "broken");
      assert.ok(broken && "rejected" in broken, "a model with NaN for weights is not rejected");
      assert.match(broken.rejected, /\S/, "without a reason");
    });
  });
}
