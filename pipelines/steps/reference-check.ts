// Fails unless each reference model scored what task.yaml expects of it, so that no attempt is paid for on a host
// where known numbers do not come back. By hand, with MANIFEST the manifest of a collecting stage:
//   node pipelines/steps/reference-check.ts --param 'expected={"mmlu": {"identity": {"kind": "finite"}}}' \
//     --param 'baselines={"mmlu": 0.25}' --param 'directions={"mmlu": "higher"}' --input manifest=MANIFEST --output checks=FILE
import type { Expectation } from "@mlrb/formats/declared/task";
import { type References, references } from "@mlrb/formats/judged/references";
import { mustFollow } from "@mlrb/formats/read-format";
import type { Collected } from "@mlrb/formats/stage/collected";
import { checkReference, type ReferenceScore } from "@mlrb/kit/check-reference";
import { readCollected } from "@mlrb/kit/collected";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";

const { params, inputs, outputs } = stage();
const expected = params.expected as Record<string, Record<string, Expectation>>;
const baselines = params.baselines as Record<string, number | string>;
const directions = params.directions as Record<string, "higher" | "lower">;
const collected = readCollected(inputs.manifest!);

const checks = Object.entries(expected).flatMap(([scorer, models]) => {
  const measured = measuredRows(collected, scorer);
  const baseline = baselineOf(baselines[scorer], measured);
  const guesses = guessesOf(measured);
  return Object.entries(models).map(([model, expectation]) => {
    const score = scoreOf(model, measured);
    const direction = directions[scorer]!;
    const answer = checkReference(score, { expected: expectation, baseline, guesses, direction });
    return { scorer, model, value: score.kind === "scored" ? score.value : null, ...answer };
  });
});
for (const { scorer, model, value, passed, words } of checks)
  console.log(`${passed ? "ok    " : "MISSED"} ${model}, ${scorer}: ${value ?? "not scored"}; ${words}`);
const models = collected.members.flatMap(({ artifacts }) => artifacts.models?.digest ?? []);
for (const digest of models) console.log(`digest of the reference models: ${digest}`);
writeJson(outputs.checks!, { formatVersion: 1, checks, models });

const missed = checks.filter(({ passed }) => !passed);
if (missed.length > 0) {
  console.error(
    `${missed.map(({ model, scorer }) => `${model} (${scorer})`).join(", ")}: not the score that task.yaml expects, so no attempt at this task starts on this host.\nLook for the cause (the row's log, GPU, number format, lock of the sources). --skip-reference-models starts attempts without this check; the tables then say so.`,
  );
  process.exitCode = 1;
}

type Measured = { rows: References["rows"] } | { why: string };

function measuredRows({ members }: Collected, scorer: string): Measured {
  const member = members.find(({ axes }) => axes.scorer === scorer);
  const path = member?.artifacts.rows?.path;
  if (path !== undefined) return { rows: mustFollow(references, readJson(path), path).rows };
  return { why: member ? `${member.stage} gave no rows: ${member.cause || member.outcome}` : "not planned" };
}

function scoreOf(model: string, measured: Measured): ReferenceScore {
  if ("why" in measured) return { kind: "none", why: measured.why };
  const row = measured.rows.find(({ name }) => name === model);
  if (row === undefined) return { kind: "none", why: "the scorer gave no row of this name" };
  if ("rejected" in row) return { kind: "none", why: `rejected: ${row.rejected}` };
  const { value, standardError = null, extra } = row;
  return { kind: "scored", value, standardError, ...(extra && { extra }) };
}

function guessesOf(measured: Measured): number[] {
  if ("why" in measured) return [];
  return measured.rows.flatMap((row) => ("rejected" in row || row.kind !== "guess" ? [] : [row.value]));
}

/** A number of task.yaml, or the value of the row that it names. */
function baselineOf(declared: number | string | undefined, measured: Measured): number | undefined {
  if (typeof declared !== "string") return declared;
  const score = scoreOf(declared, measured);
  return score.kind === "scored" ? score.value : undefined;
}
