// answers.json: what a judge model answered about one extract by one rubric, vote by vote, with its quotes.
import { openAnswers } from "../declared/rubric.ts";
import * as t from "../schema.ts";

const quote = t.wholeObject({
  event: t.about(t.count, "number of an event of the extract, as the judge said it"),
  text: t.anyText,
  found: t.about(t.flag, "whether that event has this text literally"),
  supports: t.about(
    t.nullable(t.flag),
    "what a second call said, which saw only quote and definition; null: not asked",
  ),
});

const vote = t.wholeObject({
  vote: t.positiveInteger,
  answer: t.about(t.text, "after the rules on quotes and on what was read"),
  said: t.about(t.anyText, "the answer that the model gave"),
  reasons: t.anyText,
  quotes: t.listOf(quote),
  readAll: t.about(t.flag, "whether the model was given all of the attempt"),
  asked: t.about(t.anyText, "the day on which the provider answered, e.g. 2026-11-30"),
});
export type JudgeVote = t.TypeOf<typeof vote>;

const answered = t.wholeObject({
  id: t.about(t.text, "of the question; with parts: QUESTION.PART"),
  answer: t.about(t.text, `of a strict majority of votes, else split; or ${openAnswers.join(", ")}`),
  marks: t.about(t.flag, "whether this answer marks the attempt for a person"),
  votes: t.listOf(vote),
});
export type JudgedQuestion = t.TypeOf<typeof answered>;

export const answers = t.wholeFile("mlrb answers", 1, {
  extract: t.about(t.sha256, "digest of the extract that was read"),
  rubric: t.wholeObject({ name: t.text, digest: t.about(t.sha256, "of its questions") }),
  judge: t.wholeObject({
    provider: t.text,
    id: t.about(t.text, "the requested model"),
    answeredBy: t.about(t.listOf(t.anyText), "snapshots that the provider named, sorted"),
    temperature: t.about(t.nullable(t.number), "null: the provider's default"),
    family: t.about(t.text, "of the model, e.g. gpt, claude, llama"),
  }),
  promptVersion: t.positiveInteger,
  votes: t.positiveInteger,
  dollars: t.about(t.nullable(t.amount), "of all its calls, when they were made; null: unknown"),
  questions: t.listOf(answered),
});
export type Answers = t.TypeOf<typeof answers>;
