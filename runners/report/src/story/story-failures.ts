// The failures in an attempt with their owner, each kind once with a count. From events only; output is not
// interpreted. An exit code is no failure: a search without a match and a test that is meant to fail end with 1.
// Pure.
import type { ToolResultEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { shown } from "./event-words.ts";

/** `whose` is a FailureOwner in trajectories of this project. */
export type StoryFailure = { whose: string; cause: string; count: number; detail: string };

const failuresMax = 50;

export class Failures {
  readonly #known = new Map<string, StoryFailure>();

  see(event: TrajectoryEvent): void {
    const of = event.member === undefined ? "" : ` (${event.member})`;
    if (event.event === "model-try") this.add(event.whose, `${event.cause}${of}`, event.detail);
    if (event.event === "tool-result" && event.outcome !== "done" && !isExitCode(event))
      this.add("agent-error", `tool ${event.outcome}${of}`, `${event.name}: ${shown(event.text)}`);
    if (event.event !== "model-call") return;
    if (event.finish === "refusal") this.add("agent-refusal", `refusal${of}`, shown(event.text));
    for (const { malformed, name } of event.toolCalls)
      if (malformed) this.add("agent-error", `malformed tool call${of}`, name);
  }

  add(whose: string, cause: string, detail: string): void {
    const key = `${whose} ${cause}`;
    const found = this.#known.get(key);
    if (found) found.count++;
    else if (this.#known.size < failuresMax) this.#known.set(key, { whose, cause, count: 1, detail });
  }

  all(): StoryFailure[] {
    return [...this.#known.values()];
  }
}

function isExitCode({ outcome, exit }: ToolResultEvent): boolean {
  return outcome === "failed" && exit !== null && "code" in exit;
}
