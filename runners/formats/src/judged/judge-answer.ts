// A paid answer of a judge model: one file for each call, in .mlrb/answers/ and pipelines/judges/recorded/NAME/.
import { knownUsage } from "../attempt/conversation-events.ts";
import * as t from "../schema.ts";

const request = t.wholeObject({
  extract: t.sha256,
  rubric: t.text,
  question: t.about(t.jsonObject, "as declared"),
  model: t.about(t.jsonObject, "what of its settings can change an answer"),
  promptVersion: t.positiveInteger,
  vote: t.positiveInteger,
  call: t.kindsOf(
    t.about(t.variant("read", { piece: t.positiveInteger, pieces: t.positiveInteger }), "of the extract"),
    t.about(t.variant("merge", { findings: t.sha256 }), "of the answers about all pieces"),
    t.about(t.variant("support", { answer: t.text, quotes: t.sha256 }), "whether quotes support an answer"),
  ),
  again: t.about(t.flag, "whether the first answer was malformed"),
});
export type JudgeRequest = t.TypeOf<typeof request>;

export const judgeAnswer = t.wholeFile("mlrb answer of a judge", 1, {
  request: t.about(request, "the file's name is the digest of its canonical JSON"),
  text: t.about(t.anyText, "all that the model answered"),
  usage: t.nullable(knownUsage),
  dollars: t.about(t.nullable(t.amount), "null: unknown"),
  answeredBy: t.about(t.textOrNull, "the snapshot that the provider named"),
  day: t.about(t.text, "UTC, e.g. 2026-11-30"),
});
export type JudgeAnswer = t.TypeOf<typeof judgeAnswer>;
