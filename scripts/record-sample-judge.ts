// Records the answers of the sample's judge. People wrote them, in record-sample-judge.json: no model is called. By
// hand, after a run that made the extracts:
//   ./mlrb run sample; node scripts/record-sample-judge.ts; ./mlrb run sample
import { hash } from "node:crypto";
import { globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { answerStore } from "@mlrb/agents/judge/ask/answer-store";
import { askRubric, type PaidResult } from "@mlrb/agents/judge/ask/ask-rubric";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { type Extract, extract as extractFormat } from "@mlrb/formats/judged/extract";
import { mustFollow } from "@mlrb/formats/read-format";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { Contents } from "@mlrb/local/store/content-store";
import { judgeAsk } from "../runners/cli/src/gates/judge-bounds.ts";
import { executorNames } from "../runners/cli/src/run/executors.ts";
import { actionsIn } from "../tests/support/end-state.ts";
import written from "./record-sample-judge.json" with { type: "json" };

const repository = join(import.meta.dirname, "..");
const recorded = join(repository, "pipelines/judges/recorded");
const contents = new Contents(join(repository, ".mlrb/cache/blobs"));
const loaded = loadPlan({ file: "pipelines/sample.yaml" }, sourceFiles(repository), executorNames);
if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
const { instances } = loaded.plan;
// of several extracts of an attempt the last one holds
const made = actionsIn(repository).sort((a, b) => (a.ran.startedAt < b.ran.startedAt ? -1 : 1));
const digests = new Map(made.map(({ ran, outputs }) => [ran.stage, outputs.extract?.digest]));
const asking = instances.flatMap((instance) => {
  const ask = judgeAsk(instance);
  if (!ask) return [];
  const { id } = instances[instance.inputs[0]!.from]!;
  const digest = digests.get(id);
  if (digest === undefined) throw new Error(`${id} is not made: ./mlrb run sample`);
  return [{ ...ask, attempt: id.slice("extract[".length, -1), text: readFileSync(contents.pathOf(digest)) }];
});
for (const name of globSync("*/*.json", { cwd: recorded })) rmSync(join(recorded, name));
for (const { model, rubric, votes, attempt, text } of asking) {
  const extract = mustFollow(extractFormat, JSON.parse(text.toString()), attempt);
  const answers = answerStore(join(recorded, model.id), console.error, () => written.writtenOn);
  for (const question of rubric.questions) {
    const replies = repliesTo(question.id, attempt, extract);
    await askRubric({
      ...{ extract, extractDigest: hash("sha256", text), judge: model, votes, answers },
      rubric: { name: rubric.name, questions: [question] },
      call: async () => authored(replies.shift()),
    });
  }
}
console.log(`recorded answers about ${asking.length} attempts`);

/** In the order of the calls of one vote. */
function repliesTo(question: string, attempt: string, { events }: Extract): string[] {
  const isOf = (of: string | null) => (one: { attempt: string | null; question: string }) =>
    one.attempt === of && one.question === question;
  const found = written.answers.find(isOf(attempt)) ?? written.answers.find(isOf(null));
  if (!found) throw new Error(`record-sample-judge.json has no answer to ${question}`);
  return found.replies.map(({ quotes, reasons, answer }) => {
    const placed = quotes.map((text) => ({ event: eventWith(text, events), text }));
    return JSON.stringify({ quotes: placed, reasons: `Authored: ${reasons}.`, answer });
  });
}

function eventWith(quote: string, events: Extract["events"]): number {
  const event = events.find(({ text }) => text.includes(quote));
  if (!event) throw new Error(`no event has the quote ${quote}`);
  return event.number;
}

function authored(text: string | undefined): PaidResult {
  if (text === undefined) throw new Error("a vote has more calls than record-sample-judge.json has replies");
  const answeredBy = "authored by people, no model was called";
  const response = { text, reasoning: null, toolCalls: [], finish: "stop" as const, usage: null };
  return { kind: "answered", response: { ...response, answeredBy }, dollars: 0 };
}
