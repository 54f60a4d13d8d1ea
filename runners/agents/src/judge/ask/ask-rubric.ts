// Asks a judge model the questions of a rubric about one extract: reads it in pieces, checks quotes, counts votes.
// Pure of clocks, network and disk: `call` asks the model, `answers` keeps what was paid for.
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { RubricQuestion } from "@mlrb/formats/declared/rubric";
import type { Answers } from "@mlrb/formats/judged/answers";
import type { Extract } from "@mlrb/formats/judged/extract";
import type { JudgeAnswer, JudgeRequest } from "@mlrb/formats/judged/judge-answer";
import type { Message, ModelResult } from "../../model/model-client.ts";

/** `dollars`: of all its tries; null or absent: unknown. */
export type PaidResult = ModelResult & { dollars?: number | null };

export type AnswerStore = {
  /** Undefined if the request was not answered yet. */
  get(request: JudgeRequest): JudgeAnswer | undefined;
  /** Keeps a paid answer at once. Returns the kept one, which may be another process's. Throws on a full disk. */
  put(answer: Omit<JudgeAnswer, "formatVersion" | "day">): JudgeAnswer;
};

export type AskRubric = {
  extract: Extract;
  /** Sha256 of extract.json. */
  extractDigest: string;
  rubric: { name: string; questions: RubricQuestion[] };
  judge: ModelSpec;
  votes: number;
  /** One paid call, with all retries made. */
  call(messages: Message[]): Promise<PaidResult>;
  answers: AnswerStore;
};

/** The model gave no answer that can be counted, e.g. over the cap of the run. What was answered is kept. */
export class JudgeTrouble extends Error {}

/** Throws `JudgeTrouble`, and what `call` and `answers` throw. */
export async function askRubric(_asked: AskRubric): Promise<Answers> {
  throw new JudgeTrouble("not built");
}
