// The scorer of Lean 3 as a stage inside walls, with a stand-in for Lean in a folder of its own.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { shareEnvironments } from "./support/environments.ts";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

type Row = { name: string; formal_proof: string };

test("inside walls the scorer finds and asks the program that its command names", {
  timeout: 300_000,
}, async (t) => {
  const at = lab(t, repository);
  shareEnvironments(at.root);
  const installed = join(at.outside, "lean3/bin/lean.py");
  mkdirSync(join(installed, ".."), { recursive: true });
  copyFileSync(join(repository.path, "scorers/testing/lean3_stub.py"), installed);
  const fixtures = join(repository.path, "scorers/lean3-compiles/fixtures/private");
  const rows = readFileSync(join(fixtures, "math/test.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  const answers = rows.map(({ name, formal_proof }, index) => ({
    ...{ name, tokens: 1, tied: 0, ended: "end-token" },
    text: index === 0 ? "theorem x : true := by { tactic.unsafe_run_io x, trivial }" : formal_proof,
  }));
  const head = { formatVersion: 1, kind: "written", items: rows.length };
  const given = join(at.outside, "answers.jsonl");
  writeFileSync(given, [head, ...answers].map((row) => `${JSON.stringify(row)}\n`).join(""));
  const lookAhead = { verdict: "causal", detail: "" };
  const admission = join(at.outside, "admission.json");
  writeFileSync(admission, JSON.stringify({ formatVersion: 1, admitted: true, reasons: [], lookAhead }));
  at.define({
    stages: {
      make: {
        command: `cp ${given} {outputs.answers}/ && cp -r ${fixtures}/. {outputs.private}/ && cp ${admission} {outputs.admission}`,
        gives: { answers: "dir", admission: "file", private: { dir: true, private: true } },
      },
      score: {
        python: "scorers/lean3-compiles/measure.py",
        ...{ opens: "untrusted", programs: true, environment: "pipelines/environments/ml.lock" },
        needs: ["make.answers", "make.admission", "make.private"],
        params: { version: 1, unit: "share", direction: "higher" },
        env: { MLRB_SCORER_COMMAND: `${realpathSync(process.env.MLRB_PYTHON!)} -I -S ${installed}` },
        gives: { score: { file: "score.json" }, samples: { file: "samples.jsonl" } },
      },
      show: {
        command: "cat {inputs.score} && cp {inputs.score} {outputs.copy}",
        needs: ["score.score"],
        gives: { copy: "file" },
      },
    },
  });
  const said = await at.run();
  const log = await at.pipeline(["log", "score", "--root", at.root]);
  assert.equal(said.code, 0, said.stdout + said.stderr + log.stdout);
  const shown = await at.pipeline(["log", "show", "--root", at.root]);
  const score = JSON.parse(shown.stdout.slice(shown.stdout.indexOf("{"), shown.stdout.lastIndexOf("}") + 1));
  assert.equal(score.kind, "scored");
  assert.equal(score.value, 0.75);
});
