// Asks a judge model the questions of a rubric about one attempt's extract. Opens nothing else of the attempt. Each
// answer is kept at once, so a stage that is stopped continues where it was and buys nothing twice.
//   node pipelines/steps/ask.ts --param 'model={"provider":"openai","id":"…","key":"OPENAI_API_KEY","contextTokens":128000}' \
//     --param 'rubric={"name":"…","questions":[…]}' --param votes=3 --input extract=FILE --output answers=FILE
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answerStore, recordedAnswers } from "@mlrb/agents/judge/ask/answer-store";
import { askRubric, JudgeTrouble } from "@mlrb/agents/judge/ask/ask-rubric";
import { ProviderTrouble } from "@mlrb/agents/model/provider-trouble";
import { llmSpecs } from "@mlrb/formats/declared/agent-preset";
import { rubricFile } from "@mlrb/formats/declared/rubric";
import { answers as answersFormat } from "@mlrb/formats/judged/answers";
import { extract as extractFormat } from "@mlrb/formats/judged/extract";
import { mustFollow } from "@mlrb/formats/read-format";
import { name, positiveInteger, wholeObject } from "@mlrb/formats/schema";
import { writeJson } from "@mlrb/kit/json-file";
import { sourceFolder } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";

const { params, inputs, outputs } = stage();
const rubricParam = wholeObject({ name, questions: rubricFile.properties.questions });
const format = wholeObject({ model: llmSpecs.model, rubric: rubricParam, votes: positiveInteger });
const { model, rubric, votes } = mustFollow(format, { ...params }, "the params of the judge's stage");
const bytes = readFileSync(inputs.extract!);
const extract = mustFollow(extractFormat, JSON.parse(bytes.toString()), "extract.json");

const stopped = new AbortController();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  process.on(signal, () => stopped.abort(new JudgeTrouble(`stopped by ${signal}; run again to continue`)));

try {
  const asked = { extract, extractDigest: hash("sha256", bytes), rubric, judge: model, votes };
  const answers = await askRubric({
    ...asked,
    ...(model.provider === "recorded" ? recorded() : await paid()),
  });
  writeJson(outputs.answers!, mustFollow(answersFormat, answers, "bug: answers.json"));
} catch (error) {
  if (!(error instanceof JudgeTrouble || error instanceof ProviderTrouble)) throw error;
  console.error(error.message); // a stack would add nothing
  process.exitCode = 1;
}

function recorded() {
  const id = mustFollow(name, model.id, "the id of a recorded judge");
  const answers = recordedAnswers(sourceFolder(join("pipelines/judges/recorded", id)));
  return { answers, call: () => Promise.reject(new Error("bug: a recorded judge was asked")) };
}

async function paid() {
  const { judgeModel } = await import("@mlrb/agents/judge/ask/judge-model"); // 400 modules that only models need
  const { env } = process;
  return {
    answers: answerStore(env.MLRB_ANSWERS ?? ".mlrb/answers", console.error),
    call: judgeModel(model, { env, purse: env.MLRB_PURSE, signal: stopped.signal }),
  };
}
