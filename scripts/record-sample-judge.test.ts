// The recorded answers of the sample's judge are for what its pipeline asks, and say that people wrote them. Whether
// they fit the extracts shows where the sample runs (tests/recorded-judge.e2e.test.ts).
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promptVersion } from "@mlrb/agents/judge/ask/judge-prompt";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { judgeAnswer } from "@mlrb/formats/judged/judge-answer";
import { mustFollow } from "@mlrb/formats/read-format";
import { canonicalJson, readJson } from "@mlrb/kit/json-file";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { judgeAsk } from "../runners/cli/src/gates/judge-bounds.ts";
import { executorNames } from "../runners/cli/src/run/executors.ts";

const repository = join(import.meta.dirname, "..");
const loaded = loadPlan({ file: "pipelines/sample.yaml" }, sourceFiles(repository), executorNames);
assert.ok("plan" in loaded);
const asks = loaded.plan.instances.flatMap((instance) => judgeAsk(instance) ?? []);
const folder = join(repository, "pipelines/judges/recorded", asks[0]!.model.id);
const answers = globSync("*.json", { cwd: folder }).map((name) =>
  mustFollow(judgeAnswer, readJson(join(folder, name)), name),
);

test("for each attempt of the sample there is an answer to each question of its rubric as it is declared, in each vote", () => {
  const places = answers
    .filter(({ request }) => request.call.kind === "read" && !request.again)
    .map(({ request: { extract, model: _, again: __, ...asked } }) => ({
      extract,
      asked: canonicalJson(asked),
    }));
  const recorded = Object.groupBy(places, ({ extract }) => extract);
  assert.equal(Object.keys(recorded).length, asks.length, "run scripts/record-sample-judge.ts");
  const { rubric, votes } = asks[0]!;
  const call = { kind: "read", piece: 1, pieces: 1 };
  const wanted = rubric.questions.flatMap((question) =>
    Array.from({ length: votes }, (_, at) =>
      canonicalJson({ rubric: rubric.name, question, promptVersion, vote: at + 1, call }),
    ),
  );
  for (const [extract, own] of Object.entries(recorded))
    assert.deepEqual(
      own!.map(({ asked }) => asked).sort(),
      wanted.sort(),
      `${extract}: run scripts/record-sample-judge.ts`,
    );
});

test("each answer of the sample's judge says that people wrote it and no model was called", () => {
  for (const { answeredBy, text, dollars, usage, request } of answers) {
    assert.equal(answeredBy, "authored by people, no model was called");
    assert.match(text, /"reasons":"Authored: /);
    assert.deepEqual([dollars, usage, request.model.id], [0, null, "authored-sample"]);
  }
});
