// What holds for every scorer, those of tomorrow included: a folder with a scorer.yaml is covered by being
// there. It brings fixtures/private/ (data of the private input's shape) and fixtures/contract.json:
//   floor    what a model that knows nothing reaches on that data
//   scored   the broken submissions that may be scored at all, since no law of the measure forbids it
//   tiny     the score of the one whole submission, to be reproduced
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
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readJson } from "@mlrb/kit/json-file";
import type { ScorerManifest } from "@mlrb/kit/manifests";
import type { Rejected, Score, Scored } from "@mlrb/kit/score";
import type { Admission } from "@mlrb/kit/verdict";
import { YAML } from "zx";
import { makeSubmissions, measureMany, testPython } from "./testing/submissions.ts";

type Contract = {
  floor: number;
  scored: string[];
  tiny: { value: number; standardError: number; items: number };
};

const here = import.meta.dirname;
const scorers = readdirSync(here).filter((name) => existsSync(join(here, name, "scorer.yaml")));
const admitted: Admission = { formatVersion: 1, admitted: true, reasons: [] };

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
    const folder = join(here, scorer);
    const privateData = join(folder, "fixtures/private");
    const manifest = YAML.parse(readFileSync(join(folder, "scorer.yaml"), "utf8")) as ScorerManifest;
    const contract = readJson<Contract>(join(folder, "fixtures/contract.json"));

    /** Runs score.ts as one would by hand. */
    function score(name: string, given: { submission: string; admission?: Admission; private?: string }) {
      const out = join(temporary, scorer, name);
      mkdirSync(out, { recursive: true });
      const files = { score: join(out, "score.json"), samples: join(out, "samples.jsonl") };
      const admission = join(out, "admission.json");
      writeFileSync(admission, JSON.stringify(given.admission ?? admitted));
      const inputs = {
        submission: join(submissions, given.submission),
        admission,
        private: given.private ?? privateData,
      };
      const params = { version: manifest.version, unit: manifest.unit, direction: manifest.direction };
      const flags = Object.entries({ param: params, input: inputs, output: files }).flatMap(
        ([flag, values]) =>
          Object.entries(values).flatMap(([key, value]) => [`--${flag}`, `${key}=${value}`]),
      );
      const ran = spawnSync(process.execPath, [join(folder, "score.ts"), ...flags], {
        encoding: "utf8",
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", OMP_NUM_THREADS: "1" },
      });
      return { ...files, status: ran.status, said: ran.stdout + ran.stderr };
    }

    test("is described under its folder's name", () => assert.equal(manifest.name, scorer));

    test("gives the pinned score for the tiny model, and the same bytes a second time", () => {
      const [once, again] = [score("tiny", { submission: "tiny" }), score("again", { submission: "tiny" })];
      assert.equal(once.status, 0, once.said);
      const found = readJson<Score & Scored>(once.score);
      assert.equal(found.kind, "scored");
      for (const key of ["value", "standardError", "items"] as const)
        assert.ok(Math.abs(found[key] - contract.tiny[key]) <= 1e-6, `${key}: ${found[key]}`);
      assert.equal(found.version, manifest.version);
      assert.equal(found.direction, manifest.direction);
      assert.equal(readFileSync(once.score, "utf8"), readFileSync(again.score, "utf8"));
      assert.equal(readFileSync(once.samples, "utf8"), readFileSync(again.samples, "utf8"));
      assert.doesNotMatch(readFileSync(once.score, "utf8"), new RegExp(temporary), "a path of this machine");
      assert.equal(readFileSync(once.samples, "utf8").trimEnd().split("\n").length, contract.tiny.items);
    });

    test("lets no broken model win, and calls none of them our own fault", () => {
      const out = join(temporary, scorer, "broken");
      const statuses = measureMany(folder, { private: privateData, submissions, out });
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
        }
      }
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

    test("fails, instead of rejecting, when the private data is missing", () => {
      const ran = score("dataless", { submission: "tiny", private: join(temporary, "nothing") });
      assert.notEqual(ran.status, 0);
      assert.ok(!existsSync(ran.score), "it wrote a score all the same");
    });
  });
}
