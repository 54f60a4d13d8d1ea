// Asks a judge model the questions of a rubric about one attempt's extract. Opens nothing else of the attempt. Each
// answer is kept at once, so a stage that is stopped continues where it was and buys nothing twice.
//   node pipelines/steps/ask.ts --param 'model={"provider":"openai","id":"…","key":"OPENAI_API_KEY","contextTokens":128000}' \
//     --param 'rubric={"name":"…","questions":[…]}' --param votes=3 --input extract=FILE --output answers=FILE
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { secretRedactor } from "@mlrb/agents/attempt/llm-agent";
import { answerStore, recordedAnswers } from "@mlrb/agents/judge/ask/answer-store";
import { askRubric, JudgeTrouble } from "@mlrb/agents/judge/ask/ask-rubric";
import { ProviderTrouble } from "@mlrb/agents/model/provider-trouble";
import { llmSpecs } from "@mlrb/formats/declared/agent-preset";
import { rubricFile } from "@mlrb/formats/declared/rubric";
import { answers as answersFormat } from "@mlrb/formats/judged/answers";
import { extract as extractFormat } from "@mlrb/formats/judged/extract";
import { mustFollow } from "@mlrb/formats/read-format";
import { name, openObject, positiveInteger } from "@mlrb/formats/schema";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { writeJson } from "@mlrb/kit/json-file";
import { sourceFolder } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";

const { params, inputs, outputs } = stage();
const rubricParam = openObject({ name, questions: rubricFile.properties.questions }, ["name", "questions"]);
const format = openObject({ model: llmSpecs.model, rubric: rubricParam, votes: positiveInteger }, [
  ...(["model", "rubric", "votes"] as const),
]);
const { model, rubric, votes } = mustFollow(format, { ...params }, "the params of the judge's stage");
const bytes = readFileSync(inputs.extract!);
const extract = mustFollow(extractFormat, JSON.parse(bytes.toString()), "extract.json");
const { redact } = secretRedactor(model.key === undefined ? [] : [model.key]);

const stopped = new AbortController();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  process.on(signal, () => stopped.abort(new JudgeTrouble(`stopped by ${signal}; run again to continue`)));

const calls = { made: 0, dollars: 0 as number | null };
try {
  const answers = await askRubric({
    ...{ extract, extractDigest: hash("sha256", bytes), rubric, judge: model, votes },
    ...(await askedJudge()),
  });
  writeJson(outputs.answers!, mustFollow(answersFormat, answers, "bug: answers.json"));
  const cost = calls.dollars === null ? "unknown cost" : `${calls.dollars.toFixed(4)} dollars`;
  console.log(`${rubric.name}: ${answers.questions.length} answers, ${calls.made} new calls, ${cost}`);
} catch (error) {
  const isKnown = [JudgeTrouble, ProviderTrouble].some((kind) => error instanceof kind) || isFullDisk(error);
  if (!isKnown) throw error;
  console.error(redact((error as Error).message)); // a stack would add nothing
  process.exitCode = 1;
}

async function askedJudge() {
  if (model.provider === "recorded") {
    const folder = join(
      "pipelines/judges/recorded",
      mustFollow(name, model.id, "the id of a recorded judge"),
    );
    const answers = recordedAnswers(sourceFolder(folder));
    return { answers, call: () => Promise.reject(new Error("bug: a recorded judge was asked")) };
  }
  const { judgeModel } = await import("@mlrb/agents/judge/ask/judge-model"); // 400 modules that only models need
  const { env } = process;
  const call = judgeModel(model, {
    ...{ env, purse: env.MLRB_PURSE, signal: stopped.signal },
    onSpent: (dollars) => {
      calls.made++;
      calls.dollars = calls.dollars === null || dollars === null ? null : calls.dollars + dollars;
    },
  });
  const answers = answerStore(env.MLRB_ANSWERS ?? ".mlrb/answers", console.error);
  return { answers, call };
}
