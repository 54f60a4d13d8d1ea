// The format of an authored recording, runners/agents/recordings/NAME/TASK/AGENT.yaml: the answers of an agent that
// people wrote by hand, once for all seeds. No model was called for it. Next to it, AGENT.outputs.json holds what the
// programs of each seed printed.
import * as t from "../schema.ts";
import { llmSpecs } from "./agent-preset.ts";

const value = t.about({ type: ["number", "string"] }, "replaces {{NAME}} in texts");
const minutes = t.about(t.amount, "by the clock of the attempt, times the seed's pace");

const call = t.closedObject(
  {
    tool: t.about(t.text, "a tool of the scaffold"),
    input: t.about(t.jsonObject, "its arguments"),
    file: t.about(t.pathInside, "a file of the recording's folder, whose text is the argument `text`"),
    minutes,
    writes: t.about(t.flag, "a program that wrote files: a replay runs it again for these"),
    as: t.about(t.name, "{{NAME}} is from here on the last number that the program printed"),
  },
  ["tool"],
);

const answer = t.closedObject(
  {
    seeds: t.about(t.listOf(t.seed), "only in the attempts with these seeds"),
    text: t.anyText,
    minutes,
    tokens: t.about(
      t.closedObject({ input: t.count, cached: t.count, output: t.count }, ["input", "output"]),
      "times the seed's pace",
    ),
    calls: t.listOf(call),
  },
  ["text", "minutes", "tokens", "calls"],
);

export const authoredRecording = t.fileFormat(
  "mlrb authored recording",
  t.closedObject(
    {
      formatVersion: t.formatVersionOne,
      model: llmSpecs.model,
      scaffold: llmSpecs.scaffold,
      seeds: t.about(
        t.tableOf({ ...t.tableOf(value), required: ["pace"], properties: { pace: t.amount } }),
        "for each seed its values, by name; pace: how long its minutes are, and how many its tokens",
      ),
      answers: t.listOf(answer),
    },
    ["formatVersion", "model", "scaffold", "seeds", "answers"],
  ),
);

/** The results of an attempt's programs, in order, for each seed. */
export const authoredOutputs = t.fileFormat("mlrb authored outputs", t.tableOf(t.listOf(t.anyText)));

export type AuthoredRecording = t.TypeOf<typeof authoredRecording>;
