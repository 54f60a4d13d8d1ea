// Reads the hand-labelled set: short trajectories written by hand, each a file of labelled/. Their lines abbreviate events
// of a trajectory, so that a person can read and judge them; this module expands them.
//
// The first line is the label. Then `s` is seconds since the start and the rest one of: `tool` with its result
// (`took`, `out`, `exit`; `cut`: it never came; `malformed`: no arguments), after `says`, what the model said;
// `prints` of an agent's own program; `line` of iterations.jsonl; `handed` and `final`, snapshots; `exec`, `exit`,
// `end`; or an event in full. `counts` marks an event within an iteration that counts.

import { createHash } from "node:crypto";
import type { FailureOwner } from "@mlrb/formats/attempt/failure-owner";
import type { Where } from "@mlrb/formats/attempt/iterations";
import { eventNames, exampleEvent } from "@mlrb/formats/testing/example-event";

export type Labelled = {
  name: string;
  kind: string;
  /** `hard`: written after the rules, to be cases that the rules do not expect. */
  split: "tuning" | "held-out" | "hard";
  whose: FailureOwner | "none";
  where: Where | "none";
  /** Indexes of events, each within another iteration that counts. */
  counts: number[];
  events: Record<string, unknown>[];
};

type Short = Record<string, unknown> & { s: number };

/** Throws if a line does not follow the description above. */
export function labelledTrajectory(name: string, text: string): Labelled {
  const [first, ...lines] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const label = first?.label as {
    kind: string;
    split: string;
    whose: string;
    where: string;
    budgetS: number;
  };
  const events: Record<string, unknown>[] = [];
  const counts: number[] = [];
  const add = (s: number, event: Record<string, unknown>) =>
    events.push({
      formatVersion: 1,
      index: events.length,
      sinceStartMs: 1000 * s,
      time: new Date(1000 * s).toISOString(),
      ...whole(event),
    });
  add(0, { event: "start", kind: label.kind, budget: { wallMs: 1000 * label.budgetS } });
  for (const line of lines as Short[]) {
    for (const { s, ...event } of eventsOf(line, events.length)) add(s, event);
    if (line.counts === true) counts.push(events.length - 1);
  }
  const { kind, split, whose, where } = label;
  return { name, kind, split, whose, where, counts, events } as Labelled;
}

/** Adds the fields that the short lines leave out. */
function whole(event: Record<string, unknown>): Record<string, unknown> {
  const name = eventNames.find((one) => one === event.event);
  return name === undefined ? event : exampleEvent(name, event);
}

function eventsOf(line: Short, id: number): Short[] {
  const { s } = line;
  if (typeof line.event === "string") return [line];
  if ("exec" in line) return [{ s, event: "exec", argv: line.exec }];
  if ("prints" in line) return [{ s, event: "output", stream: line.stream ?? "stdout", text: line.prints }];
  if ("line" in line) {
    const text = typeof line.line === "string" ? line.line : JSON.stringify(line.line);
    return [{ s, event: "iteration", line: text, wellFormed: true }];
  }
  if ("handed" in line) return [snapshot(line, `${id}`, line.handed as string[])];
  if ("final" in line) return [snapshot(line, "final", line.final as string[])];
  if ("tool" in line || "says" in line) return turn(line, `call-${id}`);
  if ("exit" in line) {
    const result = line.exit === "time-limit" ? { kind: "time-limit" } : { kind: "exited", code: line.exit };
    const ended = line.exit === "time-limit" ? "time-limit" : line.exit === 0 ? "finished" : "agent-error";
    return [
      { s, event: "exec-end", result },
      { s, event: "end", ended },
    ];
  }
  if ("end" in line) return [{ s, event: "end", ended: line.end }];
  throw new Error(`a labelled trajectory has an unknown line: ${JSON.stringify(line)}`);
}

function snapshot(line: Short, name: string, paths: string[]): Short {
  const { s, digest = "", gone = [] } = line;
  return {
    s,
    event: "snapshot",
    name,
    digest: textDigest(String(digest)),
    files: paths.length,
    bytes: 1,
    gone,
    torn: [],
  };
}

function textDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function turn(line: Short, id: string): Short[] {
  const { s, by = "agent", says = "", tool, took = 0, out = "", exit = 0 } = line;
  const said: Short = {
    s,
    event: "model-call",
    by,
    text: says,
    finish: line.finish ?? (tool === undefined ? "stop" : "tool-calls"),
    toolCalls: [],
    usage: null,
    dollars: null,
  };
  if (tool === undefined) return [said];
  const runs = "command" in line || "code" in line;
  const input = JSON.stringify(
    line.input ?? (runs ? { command: line.command ?? line.code } : { path: line.path ?? "" }),
  );
  const call: Short = { s, event: "tool-call", by, id, name: tool, input: line.malformed ?? input };
  if (line.cut === true) return [said, call];
  const malformed = "malformed" in line;
  const result: Short = {
    s: s + Number(took),
    event: "tool-result",
    by,
    id,
    name: tool,
    outcome: malformed ? "refused" : exit === 0 ? "done" : "failed",
    exit: runs ? { code: exit } : null,
    text: out,
    rest: null,
    executed: runs,
  };
  return [said, call, result];
}
