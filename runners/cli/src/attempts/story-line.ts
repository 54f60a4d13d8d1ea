// One line of a trajectory for people who follow it.
import type { TrajectoryLine } from "@mlrb/report/exports/attempt-source";
import { eventWords, factsWords } from "@mlrb/report/story/event-words";
import { ofMember, type StoryLine } from "@mlrb/report/story/timeline";
import { markOf } from "@mlrb/report/story/timeline-entry";

/** Only in the full story: many, and long. */
const detailed = new Set(["output", "output-clipped", "model-request", "request-part", "tool-call"]);

export function storyLine(line: TrajectoryLine, { full }: { full: boolean }): StoryLine | undefined {
  if (line.kind === "broken") return { sinceStartMs: null, what: "unreadable", text: line.why, mark: "bad" };
  const { sinceStartMs } = line;
  if (line.kind === "other")
    return { sinceStartMs, what: ofMember(line, line.name), text: factsWords(line.fields) };
  const { event } = line;
  if (!full && detailed.has(event.event)) return undefined;
  const mark = markOf(event);
  return { sinceStartMs, what: ofMember(line, event.event), text: eventWords(event), ...(mark && { mark }) };
}
