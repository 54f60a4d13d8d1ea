// What holds for every scorer, those of tomorrow included: a folder with a scorer.yaml is covered by being
// there. It brings fixtures/private/ (data of the private input's shape) and fixtures/contract.json:
//   floor    what a model that knows nothing reaches on that data
//   scored   the broken submissions that may be scored at all, since no law of the measure forbids it
//   tiny     the score of the one whole submission, to be reproduced: within a millionth, or as near as `within`
//            says where the number is partly the machine's
//   generate the script that has a submission write what the scorer judges, where it reads no model itself
import assert from "node:assert/strict";
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
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readJson } from "@mlrb/kit/json-file";
import type { Rejected, Score, Scored } from "@mlrb/kit/score";
import type { Admission } from "@mlrb/kit/verdict";
import {
  anchorRows,
  answersScript,
  measure,
  measuredFiles,
  measureMany,
  scorerManifest,
} from "./testing/measure.ts";
import { makeSubmissions, testPython } from "./testing/submissions.ts";

type Contract = {
  floor: number;
  scored: string[];
  tiny: { value: number; standardError: number; items: number; within?: number };
};

const here = import.meta.dirname;
const scorers = readdirSync(here).filter((name) => existsSync(join(here, name, "scorer.yaml")));

const temporary = mkdtempSync(join(tmpdir(), "mlrb-scorers-"));
const submissions = join(temporary, "submissions");
before(() => {
  testPython();
  mkdirSync(submissions);
  makeSubmissions(submissions);
});
after(() => rmSync(temporary, { recursive: true }));

for (const scorer of scorers) {
  describe(`scorer ${scorer}`, () => {
    const manifest = scorerManifest(scorer);
    const contract = readJson<Contract>(join(here, scorer, "fixtures/contract.json"));

    const better = (one: number, other: number) =>
      manifest.direction === "higher" ? one > other + 1e-9 : one < other - 1e-9;
    const measured = (name: string) => measuredFiles(join(temporary, scorer, name));
    type Given = { submission: string; admission?: Admission; private?: string; answers?: string };
    const score = (name: string, given: Given) =>
      measure(scorer, join(temporary, scorer, name), {
        ...given,
        submission: join(submissions, given.submission),
      });

    test("is described under its folder's name", () => assert.equal(manifest.name, scorer));

    test("has a range, where it says one, that its floor and the tiny model's score lie in", () => {
      const [least, most] = manifest.range ?? [Number.NEGATIVE_INFINITY, null];
      for (const value of [contract.floor, contract.tiny.value])
        assert.ok(value >= least && value <= (most ?? Number.POSITIVE_INFINITY), `${value}`);
    });

    test("gives the pinned score for the tiny model", () => {
      const once = score("tiny", { submission: "tiny" });
      assert.equal(once.status, 0, once.said);
      const found = readJson<Score & Scored>(once.score);
      assert.equal(found.kind, "scored");
      const tolerance = contract.tiny.within ?? 1e-6;
      for (const key of ["value", "standardError", "items"] as const)
        assert.ok(Math.abs(found[key] - contract.tiny[key]) <= tolerance, `${key}: ${found[key]}`);
      assert.equal(found.version, manifest.version);
      assert.equal(found.direction, manifest.direction);
      assert.doesNotMatch(readFileSync(once.score, "utf8"), new RegExp(temporary), "a path of this machine");
      assert.equal(readFileSync(once.samples, "utf8").trimEnd().split("\n").length, contract.tiny.items);
    });

    test("lets no broken model win, calls none our own fault, and gives the same bytes after others", () => {
      const out = join(temporary, scorer, "broken");
      const statuses = measureMany(scorer, { submissions, out });
      assert.ok(Object.keys(statuses).length > 10);
      for (const [name, status] of Object.entries(statuses)) {
        assert.equal(status, 0, `${name} made the scorer fail`);
        const result = readJson<Scored | Rejected>(join(out, `${name}.json`));
        if (result.kind === "rejected") {
          assert.ok(!contract.scored.includes(name) && name !== "tiny", `${name}: ${result.reason}`);
          assert.match(result.reason, /\S/);
          assert.ok(!result.reason.includes(temporary), `${name}: a path of this machine: ${result.reason}`);
        } else if (name !== "tiny") {
          assert.ok(contract.scored.includes(name), `${name} was scored: ${result.value}`);
          const gain = (result.value - contract.floor) * (manifest.direction === "higher" ? 1 : -1);
          assert.ok(gain <= 1e-9, `${name} beats the floor: ${result.value}`);
          const random = readJson<Scored | Rejected>(join(out, "random-weights.json"));
          const others = random.kind === "scored" && !manifest.hostSensitive && name !== "lossy-tokenizer";
          if (others) assert.ok(!better(result.value, random.value), `${name} beats random weights`);
        }
      }
      if (manifest.hostSensitive) return;
      const tiny = measured("tiny");
      assert.equal(readFileSync(join(out, "tiny.json"), "utf8"), readFileSync(tiny.score, "utf8"));
      assert.equal(readFileSync(join(out, "tiny.jsonl"), "utf8"), readFileSync(tiny.samples, "utf8"));
    });

    test("measures models as anchors as it does submissions, beside rows of its own", () => {
      const { rows } = anchorRows(scorer, join(temporary, scorer, "anchors"), {
        known: join(submissions, "tiny"),
        broken: join(submissions, "nan-weights"),
      });
      assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
      for (const { title, value, rejected } of rows)
        assert.ok(title !== "" && (rejected !== undefined || Number.isFinite(value)));
      const known = rows.find(({ name }) => name === "known");
      assert.ok(known?.value !== undefined, "no row of the tiny model");
      assert.ok(
        Math.abs(known.value - contract.tiny.value) <= (contract.tiny.within ?? 1e-6),
        `${known.value}`,
      );
      const broken = rows.find(({ name }) => name === "broken");
      assert.match(
        broken?.rejected ?? "",
        /\S/,
        "a model with NaN for weights is not rejected with a reason",
      );
      assert.equal(broken!.value, undefined);
    });

    test("rejects what was not admitted without opening it", () => {
      const reasons = [{ code: "code", detail: "holds model.py" }];
      const ran = score("refused", {
        submission: "not-there",
        admission: { formatVersion: 1, admitted: false, reasons },
      });
      assert.equal(ran.status, 0, ran.said);
      const found = readJson<Score>(ran.score);
      assert.equal(found.kind === "rejected" && found.reason, "not admitted: holds model.py");
      assert.equal(readFileSync(ran.samples, "utf8"), "");
    });

    if (answersScript(scorer) !== undefined) {
      test("judges what was written and opens no model", () => {
        const answers = join(temporary, scorer, "tiny/answers");
        const ran = score("modelless", { submission: "not-there", answers });
        assert.equal(ran.status, 0, ran.said);
        const tiny = measured("tiny");
        assert.equal(readFileSync(ran.score, "utf8"), readFileSync(tiny.score, "utf8"));
        assert.equal(readFileSync(ran.samples, "utf8"), readFileSync(tiny.samples, "utf8"));
      });

      test("fails, instead of rejecting, when the answers are missing or half there, and says the way out", () => {
        const half = join(temporary, scorer, "half");
        mkdirSync(half);
        const none = score("answerless", { submission: "tiny", answers: half });
        assert.notEqual(none.status, 0);
        assert.match(none.said, /name the script that lets it write as `generate` in task\.yaml/);
        const lines = readFileSync(join(temporary, scorer, "tiny/answers/answers.jsonl"), "utf8").split("\n");
        writeFileSync(join(half, "answers.jsonl"), `${lines.slice(0, -2).join("\n")}\n`);
        const some = score("half-answered", { submission: "tiny", answers: half });
        assert.notEqual(some.status, 0);
        assert.match(some.said, /holds \d+ of \d+ answers: let the model write anew/);
        for (const { score } of [none, some]) assert.ok(!existsSync(score), "it wrote a score all the same");
      });
    }

    test("fails, instead of rejecting, when the private data is missing", () => {
      const answers = join(temporary, scorer, "tiny/answers"); // whole ones, where it reads any
      const ran = score("dataless", { submission: "tiny", private: join(temporary, "nothing"), answers });
      assert.notEqual(ran.status, 0);
      assert.ok(!existsSync(ran.score), "it wrote a score all the same");
    });
  });
}
