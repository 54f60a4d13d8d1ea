// Reads one trajectory as a step of a pipeline or a command does. Each step is a process of its own, so that its
// peak of memory is its own:
//   node scripts/bench/trajectory-steps.ts verify|story|iterations|page PATH
import { hash } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { ResearchReader } from "@mlrb/core/iterations/attempt-iterations";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { noLine, verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { canonicalJson } from "@mlrb/kit/json-file";
import { trajectoryLines } from "@mlrb/report/exports/trajectory-lines";
import { attemptStory } from "@mlrb/report/story/attempt-story";
import { pageStory } from "../../runners/cli/src/attempts/page-story.ts";

const steps: Record<string, (path: string) => unknown> = {
  verify: async (path) => {
    const check = await verifyTrajectory(path);
    if (check.kind === "broken") throw new Error(check.reason);
  },
  story: (path) =>
    attemptStory({
      ...{ id: "bench", state: "recorded", axes: {}, key: "", startedAt: "", durationMs: null },
      ...{ slot: { pipeline: "bench", profile: "default", stage: "attempt" }, executor: "local", where: {} },
      ...{ ledger: { read: exampleLedger() }, scores: null, lines: () => trajectoryLines(path) },
      whole: (text) => ({ text: typeof text === "string" ? text : text.head, missing: null }),
    }),
  iterations: async (path) => {
    const reader = new ResearchReader();
    for await (const line of splitLines(path)) reader.take(JSON.parse(line.toString()));
    reader.end();
  },
  page: (path) => pageStory(path),
};

/** Writes a trajectory of so many events: calls of a model, of tools, their results, and now and then an iteration. */
export function writeTrajectory(path: string, events: number): void {
  const file = openSync(path, "w");
  let previous = noLine;
  let lines = "";
  for (let index = 0; index < events; index++) {
    const place = { index, time: new Date(index * 1000).toISOString(), sinceStartMs: index * 1000 };
    const line = canonicalJson({ formatVersion: 1, previous, ...place, ...eventAt(index, events) });
    previous = hash("sha256", line);
    lines += `${line}\n`;
    if (lines.length > 1 << 20 || index === events - 1) {
      writeSync(file, lines);
      lines = "";
    }
  }
  closeSync(file);
}

function eventAt(index: number, events: number): TrajectoryEvent {
  const text = "epoch 3: the loss fell to 2.71 after the rate was halved\n".repeat(4);
  if (index === events - 1) return exampleEvent("end");
  if (index === 0) return exampleEvent("start");
  if (index % 100 === 0) {
    const line = JSON.stringify({
      hypothesis: "a smaller rate",
      change: "rate",
      result: index,
      decision: "keep",
    });
    return exampleEvent("iteration", { line });
  }
  const id = `call-${Math.floor(index / 3)}`;
  if (index % 3 === 0) return exampleEvent("model-call", { call: index, text });
  if (index % 3 === 1) return exampleEvent("tool-call", { id, input: '{"command":"python3 train.py"}' });
  return exampleEvent("tool-result", { id, text });
}

if (import.meta.main) await steps[process.argv[2]!]!(process.argv[3]!);
