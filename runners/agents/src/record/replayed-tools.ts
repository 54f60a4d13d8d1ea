// The tool results of a recording. By default programs do not run: a slow or other machine cannot change a replay.
// Tools that only write files or notes run, so that the files exist. With live tools all of them run.
import type { ToolCall } from "../model/model-client.ts";
import type { RecordedResult, ToolReplay } from "../scaffold/scaffold.ts";
import type { ReplayClock } from "./replay-clock.ts";
import { ReplayMiss } from "./replay-miss.ts";

export type RecordedCall = {
  name: string;
  durationMs: number;
  /** Undefined for tools that are no programs, if they run in each replay. */
  result?: RecordedResult | undefined;
  /** It runs again for the files that it wrote. */
  writes?: boolean;
  /** A host folder: what submission/ held after the call. */
  submission?: string;
  /** Called with the text of the result. */
  printed?(text: string): void;
};

/** Whether a tool runs what the model wrote, or asks the network. */
export const isProgram = (tool: string) => ["shell", "python", "fetch_url"].includes(tool);
/** A program that runs for its files has the time that it takes. */
const dayOfSeconds = 86_400;

/** `next` gives the recorded calls in their order, `put` puts a host folder in place of submission/. Without a `clock` the tools are live. */
export function replayedTools(
  next: () => RecordedCall | undefined,
  { put, clock }: { put(folder: string): Promise<void>; clock: ReplayClock | undefined },
): ToolReplay {
  let count = 0;
  return {
    now: () => clock?.nowMs ?? performance.now(),
    /** Throws `ReplayMiss` if the recording has another call here, or a program behaves otherwise. */
    async call(call, run) {
      const recorded = next();
      const place = `tool call ${++count} (${call.name})`;
      if (recorded?.name !== call.name)
        throw new ReplayMiss(`${place} is ${recorded ? `${recorded.name} in` : "after the end of"} it`);
      const result = await (clock ? again : live)(recorded, { call, place, run });
      if (recorded.submission !== undefined) await put(recorded.submission);
      clock?.advance(recorded.durationMs);
      recorded.printed?.(result.text);
      return result;
    },
  };
}

type Made<Result> = { call: ToolCall; place: string; run(call: ToolCall): Promise<Result> };

async function live<Result extends RecordedResult>(
  { result }: RecordedCall,
  { call, place, run }: Made<Result>,
): Promise<Result> {
  const ran = await run(call);
  if (isProgram(call.name) && result && ran.text !== result.text)
    throw new ReplayMiss(`${place} printed ${quoted(ran.text)}, and in it ${quoted(result.text)}`);
  return ran;
}

async function again<Result extends RecordedResult>(
  { result, writes }: RecordedCall,
  { call, place, run }: Made<Result>,
): Promise<Result> {
  if (!isProgram(call.name)) return { ...(await run(call)), ...result };
  if (!result) throw new ReplayMiss(`it has no output of ${place}; run it with --live-tools`);
  if (!writes) return result as Result;
  const ran = await run("input" in call ? patient(call) : call);
  if (result.outcome === "done" && ran.outcome !== "done")
    throw new ReplayMiss(`${place} did not write its files again: ${quoted(ran.text)}`);
  return { ...ran, ...result };
}

const quoted = (text: string) => JSON.stringify(text.slice(0, 300));

function patient(call: Extract<ToolCall, { input: unknown }>): ToolCall {
  return { ...call, input: { ...call.input, timeoutSeconds: dayOfSeconds } };
}
