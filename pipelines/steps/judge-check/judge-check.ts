// Asks a judge about trajectories whose right answers are known, and compares its answers with them.
//   node pipelines/steps/judge-check/judge-check.ts --axis judge=NAME --axis rubric=NAME --param 'model={…}' --param votes=3 \
//     --param 'rubric={"name": "NAME", "questions": […]}' [--input labelled=FILE] --output check=FILE

import { askInStage } from "@mlrb/agents/judge/ask/ask-in-stage";
import { askRubric, JudgeTrouble } from "@mlrb/agents/judge/ask/ask-rubric";
import { type AskAbout, checkJudge } from "@mlrb/agents/judge/check/check-judge";
import { extractsParams, judgeParams } from "@mlrb/formats/declared/judge-params";
import { labelledFile } from "@mlrb/formats/judged/labelled";
import { mustFollow } from "@mlrb/formats/read-format";
import { wholeObject } from "@mlrb/formats/schema";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { sourceFile } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";

const { axes, params, inputs, outputs } = stage();
const { model, rubric, votes, extracts, extractCharactersMax } = mustFollow(
  wholeObject({ ...judgeParams, ...extractsParams }),
  { ...params },
  "params of the pipeline's judge-check stage",
);
const shipped = () => sourceFile(`pipelines/judges/labelled/${axes.rubric}.json`);
const path = "labelled" in inputs ? inputs.labelled! : shipped();
const labelled = mustFollow(labelledFile, readJson(path), path);

const longest = Math.max(...labelled.trajectories.map(({ events }) => charactersOf(events)));
if (labelled.trajectories.length > extracts || longest > extractCharactersMax)
  throw new Error(
    `${path} has ${labelled.trajectories.length} trajectories of up to ${longest} characters: raise the stage's extracts and extractCharactersMax, from which the plan estimates its dollars`,
  );

await askInStage(model, async (judge) => {
  const ask: AskAbout = (about) => askRubric({ ...about, rubric, judge: model, votes, ...judge });
  const found = await checkJudge(labelled, { rubric: rubric.name, questions: rubric.questions, ask });
  if (found.kind === "checked") writeJson(outputs.check!, found.check);
  else throw new JudgeTrouble(found.causes.join("\n"));
});

function charactersOf(events: { text: string }[]): number {
  return events.reduce((sum, { text }) => sum + text.length, 0);
}
