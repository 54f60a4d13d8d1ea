// Asks a judge about trajectories whose right answers are known, and compares its answers with them.
//   node pipelines/steps/judge-check/judge-check.ts --axis judge=NAME --axis rubric=NAME --param 'model={…}' --param votes=3 \
//     --param 'rubric={"name": "NAME", "questions": […]}' [--input labelled=FILE] --output check=FILE

// @ts-expect-error: its folder is written elsewhere
import { askRubric, judgeOfStage } from "@mlrb/agents/judge/ask/ask-rubric";
import { atMost } from "@mlrb/agents/judge/check/at-most";
import { type AskAbout, checkJudge } from "@mlrb/agents/judge/check/check-judge";
import { rubricFile } from "@mlrb/formats/declared/rubric";
import { labelledFile } from "@mlrb/formats/judged/labelled";
import { mustFollow } from "@mlrb/formats/read-format";
import { positiveInteger, wholeObject } from "@mlrb/formats/schema";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { sourceFile } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";

/** Of one judge; more would be refused by some providers. */
const callsMax = 4;

const { axes, params, inputs, outputs } = stage();
const { name, questions } = rubricFile.properties;
const { rubric, votes } = mustFollow(
  wholeObject({ rubric: wholeObject({ name, questions }), votes: positiveInteger }),
  { ...params },
  "params of the pipeline's judge-check stage",
);
const shipped = () => sourceFile(`pipelines/judges/labelled/${axes.rubric}.json`);
const path = "labelled" in inputs ? inputs.labelled! : shipped();
const labelled = mustFollow(labelledFile, readJson(path), path);

const { judge, call, answers } = judgeOfStage(params.model);
const limited = atMost(callsMax, call);
const ask: AskAbout = (about) => askRubric({ ...about, rubric, judge, votes, call: limited, answers });
const found = await checkJudge(labelled, { rubric: rubric.name, questions: rubric.questions, ask });
if (found.kind === "checked") writeJson(outputs.check!, found.check);
else {
  console.error(found.causes.join("\n"));
  process.exitCode = 1;
}
