// An authored recording: answers that people wrote by hand, once for all seeds of an agent at a task. No model was
// called. Its numbers are not written by hand: {{NAME}} in an answer is a value of the seed, or the last number that
// an earlier program printed.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AuthoredRecording,
  authoredOutputs,
  authoredRecording,
} from "@mlrb/formats/declared/authored-recording";
import { checkFormat, readFormat } from "@mlrb/formats/read-format";
import type { Json } from "@mlrb/formats/schema";
import { parseDocument } from "yaml";
import type { ModelClient, ModelResponse, ToolCall } from "../model/model-client.ts";
import type { ReplayClock } from "./replay-clock.ts";
import { ReplayMiss } from "./replay-miss.ts";
import { isProgram, type RecordedCall } from "./replayed-tools.ts";

type Answer = AuthoredRecording["answers"][number];
type AuthoredCall = Answer["calls"][number];
type Place = { task: string; agent: string; seed: string };

const minuteMs = 60_000;

/** Where the recording of an agent at a task lies in its folder. */
export function authoredFiles(folder: string, { task, agent }: Pick<Place, "task" | "agent">) {
  // a preset with another way of replaying has the same recording
  const stem = join(folder, task, agent.replace(/@.*/, ""));
  return { script: `${stem}.yaml`, outputs: `${stem}.outputs.json` };
}

/** A text describes the problem. */
export function readAuthored(folder: string, place: Place) {
  const { script, outputs } = authoredFiles(folder, place);
  if (!existsSync(script))
    return `${script} is missing: there is no recording of ${place.agent} at ${place.task}`;
  const document = parseDocument(readFileSync(script, "utf8"));
  if (document.errors[0]) return `${script}: ${document.errors[0].message.split(/:?\n/)[0]}`;
  const reading = checkFormat(authoredRecording, document.toJS());
  if (reading.kind === "unreadable") return `${script}: ${reading.cause}`;
  const seed = reading.value.seeds[place.seed];
  if (!seed)
    return `${script}: seeds has no ${place.seed}; choose one of ${Object.keys(reading.value.seeds).join(", ")}`;
  const printed = existsSync(outputs)
    ? readFormat(authoredOutputs, readFileSync(outputs, "utf8"))
    : undefined;
  if (printed?.kind === "unreadable") return `${outputs}: ${printed.cause}`;
  return authoredReplay(reading.value, {
    folder,
    seed: place.seed,
    printed: printed?.value[place.seed] ?? [],
  });
}

function authoredReplay(
  { model, scaffold, seeds, answers }: AuthoredRecording,
  { folder, seed, printed }: { folder: string; seed: string; printed: string[] },
) {
  const { pace, ...ofSeed } = seeds[seed]!;
  const values: Record<string, Json> = { ...ofSeed, seed };
  const own = answers.filter((one) => !one.seeds || one.seeds.map(String).includes(seed));
  const results = printed.values();
  const calls: RecordedCall[] = [];
  const paced = (count: number) => Math.round(count * Number(pace));
  const ms = (minutes = 0) => paced(minutes * minuteMs);
  const toolCall = (call: AuthoredCall, id: string): ToolCall => {
    const { tool, input = {}, file, minutes, writes = false, as } = call;
    const text = isProgram(tool) ? results.next().value : undefined;
    calls.push({
      ...{ name: tool, writes, durationMs: ms(minutes) },
      ...(text !== undefined && { result: resultOf(text) }),
      printed: (said) => {
        if (as !== undefined) values[as] = Number(said.match(/-?\d+(?:\.\d+)?/g)?.at(-1));
      },
    });
    const more = file === undefined ? {} : { text: readFileSync(join(folder, file), "utf8") };
    return { id, name: tool, input: { ...(filled(input, values) as Record<string, Json>), ...more } };
  };
  const responseOf = (answer: Answer, number: number): ModelResponse => {
    const { input, output, cached = 0 } = answer.tokens;
    return {
      text: String(filled(answer.text, values)),
      reasoning: null,
      toolCalls: answer.calls.map((call, at) => toolCall(call, `authored-${number}-${at + 1}`)),
      finish: answer.calls.length > 0 ? "tool-calls" : "stop",
      usage: {
        ...{ inputTokens: paced(input), outputTokens: paced(output), cachedInputTokens: paced(cached) },
        reasoningTokens: 0,
      },
      answeredBy: model.id,
    };
  };
  let asked = 0;
  return {
    ...{ model, scaffold },
    totalMs: ms(own.flatMap((one) => [one, ...one.calls]).reduce((sum, { minutes = 0 }) => sum + minutes, 0)),
    /** Answers in the order of the recording. */
    client: (clock: ReplayClock | undefined): ModelClient => ({
      provider: model.provider,
      model: model.id,
      call: async ({ signal }) => {
        signal.throwIfAborted();
        const answer = own[asked++];
        if (!answer)
          throw new ReplayMiss(`it ends after ${own.length} answers, and the agent asks for another one`);
        clock?.advance(ms(answer.minutes));
        return { kind: "answered", response: responseOf(answer, asked) };
      },
    }),
    nextCall: () => calls.shift(),
  };
}

/** `value` with the values of its placeholders; a text that is one placeholder becomes its value. */
function filled(value: Json, values: Record<string, Json>): Json {
  const known = (name: string) => {
    const found = values[name];
    if (found === undefined) throw new ReplayMiss(`{{${name}}} has no value in its authored recording`);
    return found;
  };
  const fill = (text: string) => {
    const [, whole] = /^\{\{([a-z0-9-]+)\}\}$/.exec(text) ?? [];
    if (whole !== undefined) return known(whole);
    return text.replaceAll(/\{\{([a-z0-9-]+)\}\}/g, (_, name: string) => String(known(name)));
  };
  return JSON.parse(JSON.stringify(value, (_, one) => (typeof one === "string" ? fill(one) : one)));
}

/** What a program printed, as the model gets it: its first line says how it ended. */
function resultOf(text: string): RecordedCall["result"] {
  const code = Number(/^exit code (\d+)/.exec(text)?.[1] ?? 1);
  return { text, outcome: code === 0 ? "done" : "failed", exit: { code }, executed: true };
}
