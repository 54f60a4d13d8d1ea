// The judge that a stage's `model` names: a recorded one answers from files of this repository, any other is paid.
import { join } from "node:path";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import { mustFollow } from "@mlrb/formats/read-format";
import { name } from "@mlrb/formats/schema";
import { sourceFolder } from "@mlrb/kit/source-file";
import PQueue from "p-queue";
import { ProviderTrouble } from "../../model/provider-trouble.ts";
import { answerStore, JudgeTrouble, recordedAnswers } from "./answer-store.ts";
import type { AskRubric } from "./ask-rubric.ts";

/** Of one stage; a provider refuses bursts, and a refused call is a lost answer. */
const callsMax = 4;

type Judge = Pick<AskRubric, "call" | "answers">;

/** Trouble with the judge fails the stage, with a message and no stack, which would add nothing. */
export async function askInStage(model: ModelSpec, ask: (judge: Judge) => Promise<void>): Promise<void> {
  try {
    await ask(judgeOfStage(model));
  } catch (error) {
    if (!(error instanceof JudgeTrouble || error instanceof ProviderTrouble)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** Without a new call neither the key nor the 400 modules of models are needed. */
function judgeOfStage(model: ModelSpec): Judge {
  if (model.provider === "recorded") {
    const id = mustFollow(name, model.id, "the id of a recorded judge");
    const answers = recordedAnswers(sourceFolder(join("pipelines/judges/recorded", id)));
    return { answers, call: () => Promise.reject(new Error("bug: a recorded judge was asked")) };
  }
  const { env } = process;
  const stopped = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.on(signal, () => stopped.abort(new JudgeTrouble(`stopped by ${signal}; run again to continue`)));
  const queue = new PQueue({ concurrency: callsMax });
  let calling: Promise<AskRubric["call"]> | undefined;
  const begin = async () => {
    const { judgeModel } = await import("./judge-model.ts");
    return judgeModel(model, { env, purse: env.MLRB_PURSE, signal: stopped.signal });
  };
  return {
    answers: answerStore(env.MLRB_ANSWERS ?? ".mlrb/answers", console.error),
    call: (messages) =>
      queue.add(async () => {
        calling ??= begin();
        return (await calling)(messages);
      }),
  };
}
