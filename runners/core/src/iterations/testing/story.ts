// Trajectories for tests in short lines, which this module expands to whole events.
//
// `s` is seconds since the start and the rest one of: `tool` with its result (`took`, `out`, `exit`; `cut`: it
// never came; `malformed`: no arguments), after `says`, what the model said; `prints` of an agent's own program;
// `line` of iterations.jsonl; `handed` and `final`, snapshots; `exec`, `exit`, `end`; or an event in full.

import { createHash } from "node:crypto";
import type { IterationsFile } from "@mlrb/formats/attempt/iterations";
import { eventNames, exampleEvent } from "@mlrb/formats/testing/example-event";
import { ResearchReader } from "../attempt-iterations.ts";

/** Reads a whole trajectory at once. */
export function attemptIterations(lines: Iterable<unknown>): IterationsFile {
  const reader = new ResearchReader();
  for (const line of lines) reader.take(line);
  return reader.end();
}

type Short = Record<string, unknown> & { s: number };

/** Throws if a line does not follow the description above. */
export function events(lines: Short[]): Record<string, unknown>[] {
  const all: Record<string, unknown>[] = [];
  const add = (s: number, event: Record<string, unknown>) =>
    all.push({
      formatVersion: 1,
      index: all.length,
      sinceStartMs: 1000 * s,
      time: new Date(1000 * s).toISOString(),
      ...whole(event),
    });
  add(0, { event: "start", kind: "test", budget: { wallMs: 3_600_000 } });
  for (const line of lines) for (const { s, ...event } of eventsOf(line, all.length)) add(s, event);
  return all;
}

export function story(lines: Short[]): Extract<IterationsFile, { kind: "found" }> {
  const found = attemptIterations(events(lines));
  if (found.kind !== "found") throw new Error("bug: a story is always found");
  return found;
}

export const model = ["config.json", "model.safetensors", "tokenizer.json"];

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
  throw new Error(`a story has an unknown line: ${JSON.stringify(line)}`);
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
