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
  return new AuthoredReplay(reading.value, { ...place, folder, printed: printed?.value[place.seed] ?? [] });
}

class AuthoredReplay {
  readonly model: AuthoredRecording["model"];
  readonly scaffold: AuthoredRecording["scaffold"];
  readonly totalMs: number;
  readonly #folder: string;
  readonly #pace: number;
  readonly #answers: Answer[];
  readonly #printed: string[];
  readonly #values: Record<string, Json>;
  readonly #calls: RecordedCall[] = [];
  #asked = 0;
  #programs = 0;

  constructor(
    recording: AuthoredRecording,
    { folder, seed, printed }: Place & { folder: string; printed: string[] },
  ) {
    const { pace, ...values } = recording.seeds[seed]!;
    this.model = recording.model;
    this.scaffold = recording.scaffold;
    this.#folder = folder;
    this.#pace = Number(pace);
    this.#answers = recording.answers.filter(({ seeds }) => !seeds || seeds.map(String).includes(seed));
    this.#printed = printed;
    this.#values = { ...values, seed };
    const minutes = this.#answers.flatMap((one) => [
      one.minutes,
      ...one.calls.map((call) => call.minutes ?? 0),
    ]);
    this.totalMs = this.#ms(minutes.reduce((sum, each) => sum + each, 0));
  }

  /** Answers in the order of the recording. */
  client(clock: ReplayClock | undefined): ModelClient {
    return {
      provider: this.model.provider,
      model: this.model.id,
      call: async ({ signal }) => {
        signal.throwIfAborted();
        const answer = this.#answers[this.#asked];
        if (!answer)
          throw new ReplayMiss(
            `it ends after ${this.#answers.length} answers, and the agent asks for another one`,
          );
        clock?.advance(this.#ms(answer.minutes));
        return { kind: "answered", response: this.#response(answer, ++this.#asked) };
      },
    };
  }

  nextCall(): RecordedCall | undefined {
    return this.#calls.shift();
  }

  #response({ text, tokens, calls }: Answer, number: number): ModelResponse {
    const { input, output, cached = 0 } = tokens;
    const [inputTokens, outputTokens, cachedInputTokens] = [input, output, cached].map((count) =>
      Math.round(count * this.#pace),
    ) as [number, number, number];
    return {
      text: String(this.#filled(text)),
      reasoning: null,
      toolCalls: calls.map((call, index) => this.#toolCall(call, `authored-${number}-${index + 1}`)),
      finish: calls.length > 0 ? "tool-calls" : "stop",
      usage: { inputTokens, outputTokens, cachedInputTokens, reasoningTokens: 0 },
      answeredBy: this.model.id,
    };
  }

  #toolCall(
    { tool, input = {}, file, minutes = 0, writes = false, as }: Answer["calls"][number],
    id: string,
  ): ToolCall {
    const printed = isProgram(tool) ? this.#printed[this.#programs++] : undefined;
    this.#calls.push({
      ...{ name: tool, writes, durationMs: this.#ms(minutes) },
      ...(printed !== undefined && { result: resultOf(printed) }),
      printed: (said) => {
        if (as !== undefined) this.#values[as] = Number(said.match(/-?\d+(?:\.\d+)?/g)?.at(-1));
      },
    });
    const own = this.#filled(input) as Record<string, Json>;
    const more = file === undefined ? {} : { text: readFileSync(join(this.#folder, file), "utf8") };
    return { id, name: tool, input: { ...own, ...more } };
  }

  /** `value` with the values of its placeholders; a text that is one placeholder becomes its value. */
  #filled(value: Json): Json {
    const known = (name: string) => {
      const found = this.#values[name];
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

  #ms(minutes: number): number {
    return Math.round(minutes * this.#pace * minuteMs);
  }
}

/** What a program printed, as the model gets it: its first line says how it ended. */
function resultOf(text: string): RecordedCall["result"] {
  const code = Number(/^exit code (\d+)/.exec(text)?.[1] ?? 1);
  return { text, outcome: code === 0 ? "done" : "failed", exit: { code }, executed: true };
}
