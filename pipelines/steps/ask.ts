// Asks a judge model the questions of a rubric about one attempt's extract. Opens nothing else of the attempt. Each
// answer is kept at once, so a stage that is stopped continues where it was and buys nothing twice.
//   node pipelines/steps/ask.ts --param 'model={"provider":"openai","id":"…","key":"OPENAI_API_KEY","contextTokens":128000}' \
//     --param 'rubric={"name":"…","questions":[…]}' --param votes=3 --input extract=FILE --output answers=FILE
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { askInStage } from "@mlrb/agents/judge/ask/ask-in-stage";
import { askRubric } from "@mlrb/agents/judge/ask/ask-rubric";
import { judgeParams } from "@mlrb/formats/declared/judge-params";
import { answers as answersFormat } from "@mlrb/formats/judged/answers";
import { extract as extractFormat } from "@mlrb/formats/judged/extract";
import { mustFollow } from "@mlrb/formats/read-format";
import { wholeObject } from "@mlrb/formats/schema";
import { writeJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";

const { params, inputs, outputs } = stage();
const { model, rubric, votes } = mustFollow(
  wholeObject(judgeParams),
  { ...params },
  "the params of the judge's stage",
);
const bytes = readFileSync(inputs.extract!);
const extract = mustFollow(extractFormat, JSON.parse(bytes.toString()), "extract.json");

await askInStage(model, async (judge) => {
  const asked = { extract, extractDigest: hash("sha256", bytes), rubric, judge: model, votes };
  const answers = await askRubric({ ...asked, ...judge });
  writeJson(outputs.answers!, mustFollow(answersFormat, answers, "bug: answers.json"));
});
