// Asks a judge model the questions of a rubric about one extract: several votes on each question, of which the
// strict majority is the answer. Pure of clocks, network and disk: `call` asks the model, `answers` keeps what was
// paid for.
import { hash } from "node:crypto";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { RubricQuestion } from "@mlrb/formats/declared/rubric";
import type { Answers, JudgedQuestion, JudgeVote } from "@mlrb/formats/judged/answers";
import type { Extract } from "@mlrb/formats/judged/extract";
import type { JudgeAnswer } from "@mlrb/formats/judged/judge-answer";
import { familyOf, unknownFamily } from "@mlrb/kit/attempts/model-family";
import { canonicalJson } from "@mlrb/kit/json-file";
import PQueue from "p-queue";
import { isAgents, modelCauses } from "../../model/failure-causes.ts";
import type { Message, ModelResult } from "../../model/model-client.ts";
import { type AnswerStore, JudgeTrouble } from "./answer-store.ts";
import { type Ask, askVote, readingOf } from "./ask-vote.ts";
import { extractPieces, pieceBytesMax } from "./extract-pieces.ts";
import { promptVersion } from "./judge-prompt.ts";

export { type AnswerStore, JudgeTrouble } from "./answer-store.ts";

/** `dollars`: of all its tries; null or absent: unknown. */
export type PaidResult = ModelResult & { dollars?: number | null };

export type AskRubric = {
  extract: Extract;
  /** Sha256 of extract.json. */
  extractDigest: string;
  rubric: { name: string; questions: RubricQuestion[] };
  judge: ModelSpec;
  votes: number;
  /** One paid call, with all retries made. At most four at once. */
  call(messages: Message[]): Promise<PaidResult>;
  answers: AnswerStore;
};

type Job = { question: RubricQuestion; vote: number; used: JudgeAnswer[] };

/** Throws `JudgeTrouble`, and what `call` and `answers` throw, once the calls in flight have ended. */
export async function askRubric(asked: AskRubric): Promise<Answers> {
  const { extract, extractDigest: digest, rubric, judge, votes } = asked;
  const bytesMax = pieceBytesMax(judge);
  const pieces = extractPieces(extract.events, bytesMax);
  const reading = readingOf(extract, { digest, pieces, bytesMax });
  const stop = new AbortController();
  const jobs = rubric.questions.flatMap((question) =>
    Array.from({ length: votes }, (_, at): Job => ({ question, vote: at + 1, used: [] })),
  );
  const run = (job: Job) =>
    askVote({ ...job, reading, ask: asker(asked, job, stop.signal) }).catch((error: unknown) => {
      stop.abort(error);
      throw error;
    });
  // the first alone: then the provider's cache holds the extract when the others ask
  const given = await Promise.all(jobs.slice(0, 1).map(run));
  const queue = new PQueue({ concurrency: 4 });
  try {
    given.push(...(await queue.addAll(jobs.slice(1).map((job) => () => run(job)))));
  } finally {
    await queue.onIdle();
  }
  const used = jobs.flatMap((job) => job.used);
  const dollars = used.map((one) => one.dollars);
  const questions = rubric.questions.flatMap((question) =>
    (question.parts ?? [""]).map((part, at): JudgedQuestion => {
      const all = jobs.flatMap((job, index) =>
        job.question === question ? { ...given[index]![at]!, asked: job.used.at(-1)!.day } : [],
      );
      const isMost = ({ answer }: JudgeVote) => all.filter((one) => one.answer === answer).length > votes / 2;
      const answer = all.find(isMost)?.answer ?? "split";
      const marks = question.marks?.includes(answer) ?? false;
      return { id: part === "" ? question.id : `${question.id}.${part}`, answer, marks, votes: all };
    }),
  );
  const { provider, id, temperature = null } = judge;
  const { provider: from, id: named } = used[0]?.request.model ?? judge; // of a recorded judge the recorded one
  const family = familyOf({ ...judge, provider: String(from), id: String(named) }) ?? unknownFamily;
  const answeredBy = [...new Set(used.flatMap((one) => one.answeredBy ?? []))].sort();
  return {
    ...{ formatVersion: 1, extract: digest, promptVersion, votes, questions },
    rubric: { name: rubric.name, digest: hash("sha256", canonicalJson(rubric.questions)) },
    judge: { provider, id, answeredBy, temperature, family },
    dollars: dollars.includes(null) ? null : dollars.reduce<number>((sum, one) => sum + one!, 0),
  };
}

/** Asks only what was not answered yet, and nothing more once `stop` is aborted. */
function asker(asked: AskRubric, { question, vote, used }: Job, stop: AbortSignal): Ask {
  // neither the name of the key, the price nor the family changes an answer
  const { key: _, free: __, family: ___, ...model } = asked.judge;
  const { extractDigest: extract, rubric, answers } = asked;
  return async (call, messages, read) => {
    for (const again of [false, true]) {
      const known = { extract, rubric: rubric.name, question, model, promptVersion, vote, call, again };
      let answer = answers.get(known);
      if (!answer) {
        stop.throwIfAborted();
        answer = answers.put({ request: known, ...(await paidAnswer(asked, messages)) });
      }
      used.push(answer);
      const value = read(answer.text);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

async function paidAnswer({ call, judge }: AskRubric, messages: Message[]) {
  const { dollars = null, ...result } = await call(messages);
  if (result.kind === "answered") {
    const { text, usage, answeredBy } = result.response;
    return { text, usage, dollars, answeredBy };
  }
  const { cause, whose, detail, usage } = result.failure;
  // the provider's filter refused: a malformed answer
  if (isAgents(whose)) return { text: "", usage, dollars, answeredBy: null };
  const wayOut = modelCauses[cause].wayOut ?? "run the pipeline again";
  throw new JudgeTrouble(`${judge.provider} ${judge.id}: ${cause}: ${detail}; ${wayOut}`);
}
