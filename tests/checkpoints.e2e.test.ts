// Intermediate checkpoints, with an agent that has a good submission half-way and spoils it before its deadline:
// the end counts, and the report shows the earlier one. Of the benchmark, only the steps are used.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { judgedStages, qualityScorer, readReport, smallModel } from "./support/attempts/judged-stages.ts";
import { lab, outcomes, summary } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** In 16 s: a good one from 6 s on, cut off at 10 s, as by an unfinished save; then it waits for its end. */
const spoils = `
sleep 6
echo '{"quality": 0.75}' > submission/tokenizer.json
echo '{}' > submission/config.json
${smallModel} > submission/model.safetensors
sleep 4
head -c 75 submission/model.safetensors > half
mv half submission/model.safetensors
sleep 60
`;

test("a submission that was good half-way and spoiled at the end is rejected, and the report shows the earlier one", async (t) => {
  const at = lab(t, repository);
  defineAttempts(at, {
    script: spoils,
    trusted: true,
    attempt: { budget: { time: "16s" } },
    axes: { checkpoint: ["25%", "50%", "75%"], scorer: ["quality"] },
    stages: {
      ...judgedStages(
        at,
        { title: "Over time", budget: "16s" },
        {
          collect: ["checkpoint.checkpoint", "digest(checkpoint.contents)", "grade-then.score"],
          roles: ["checkpoint", "checkpoint-score"],
        },
      ),
      checkpoint: {
        role: "checkpoint",
        each: ["task", "agent", "seed", "checkpoint"],
        keyed: ["checkpoint"],
        script: "pipelines/steps/checkpoint.ts",
        needs: ["attempt.submission", "attempt.snapshots", "attempt.ledger", "validate.admission"],
        opens: "untrusted",
        gives: {
          contents: "dir",
          submission: "dir",
          admission: { file: "admission.json" },
          checkpoint: { file: "checkpoint.json" },
        },
      },
      "grade-then": {
        ...qualityScorer(at),
        role: "checkpoint-score",
        each: ["task", "agent", "seed", "checkpoint", "scorer"],
        needs: ["checkpoint.submission", "checkpoint.admission"],
      },
    },
  });

  const said = await at.run();
  assert.equal(said.code, 0, said.stderr);
  const folder = join(at.root, "results", at.name, summary(said).profile);
  const report = readReport(folder);
  const [attempt] = report.attempts;
  assert.deepEqual(
    attempt!.checkpoints.map(({ checkpoint, admission, scores }) => [
      checkpoint,
      admission.kind,
      scores.quality!.kind === "scored" ? scores.quality!.value : scores.quality!.kind,
    ]),
    [
      ["25%", "none", "rejected"],
      ["50%", "admitted", 0.75],
      ["75%", "rejected", "rejected"],
      ["100%", "rejected", "rejected"],
    ],
  );
  assert.equal(attempt!.verdict.kind, "rejected");
  assert.deepEqual([report.cells[0]!.mean, report.cells[0]!.validN], [0.1, 0], "the end counts");

  const text = readFileSync(join(folder, "report.md"), "utf8");
  assert.match(
    text,
    /## Intermediate checkpoints[\s\S]*\| tries \| 1 \| none \| 0\.75 \| \*\*rejected\*\* \| \*\*rejected\*\* \|/,
  );
  assert.match(
    text,
    /the final submission is rejected \("model\.safetensors": truncated: the tensors need 16 bytes, the file holds 3\)/,
  );
  assert.match(text, /Earlier checkpoints were scored, at 50% 0\.75; they do not count/);
  const page = readFileSync(join(folder, "report.html"), "utf8");
  assert.match(page, /id="over-time"[\s\S]*tries at 50%: 0\.75 \(1\)/);

  const ends = outcomes(said);
  const point = "task=empty,agent=tries,seed=1";
  const same = [`grade[${point},scorer=quality]`, `grade-then[${point},checkpoint=75%,scorer=quality]`];
  assert.deepEqual(same.map((id) => ends[id]).sort(), ["reused", "succeeded"], "scored once, for both");

  const again = await at.run();
  assert.deepEqual([again.code, summary(again).outcomes.succeeded], [0, 0]);
  at.repository.edit(`${at.name}/score.ts`, "items: 1,", "items: 2,");
  const would = Object.entries(outcomes(await at.plan())).filter(([, action]) => action === "run");
  const rescored = Object.entries(outcomes(await at.run())).filter(([, outcome]) => outcome === "succeeded");
  assert.deepEqual(rescored.map(([stage]) => stage).sort(), would.map(([stage]) => stage).sort());
  assert.deepEqual(
    would.map(([stage]) => stage.replace(/\[.*(checkpoint=\d+%).*/, " $1").replace(/\[.*/, "")).sort(),
    ["grade", "grade-then checkpoint=25%", "grade-then checkpoint=50%", "report"],
  );
  const one = await at.run("--only", "grade-then[checkpoint=50%]");
  assert.equal(outcomes(one)[`grade-then[${point},checkpoint=50%,scorer=quality]`], "reused");
  const narrowed = await at.run("--set", "checkpoint=50%");
  assert.equal(narrowed.code, 0, narrowed.stderr);
  const half = readReport(join(at.root, "results", at.name, `${summary(said).profile}+checkpoint=50%`));
  assert.deepEqual(
    half.attempts[0]!.checkpoints.map(({ checkpoint }) => checkpoint),
    ["50%", "100%"],
  );
});
