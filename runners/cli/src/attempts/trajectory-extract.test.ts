import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { trajectoryExtract } from "./trajectory-extract.ts";

const folder = mkdtempSync(join(tmpdir(), "mlrb-extract-"));
after(() => rmSync(folder, { recursive: true }));

function written(lines: unknown[], tail = ""): string {
  const path = join(folder, "trajectory.jsonl");
  writeFileSync(
    path,
    lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("") + tail,
  );
  return path;
}

function read(path: string) {
  const found = trajectoryExtract(path);
  assert.equal(found.kind, "read");
  return found as typeof found & { kind: "read" };
}

const output = (at: number, text = `line ${at}`) => ({
  event: "output",
  sinceStartMs: at,
  stream: "stdout",
  text,
});

test("a short trajectory is shown whole", () => {
  const { lines, events } = read(
    written([
      {
        event: "start",
        formatVersion: 1,
        index: 0,
        previous: "0",
        time: "t",
        sinceStartMs: 2,
        agent: "a",
        seed: 1,
      },
      output(5, "\u001b[31mloss\u001b[0m 3.1\n"),
      {
        event: "iteration",
        sinceStartMs: 9,
        line: '{"id":"one","hypothesis":"a larger rate helps"}',
        wellFormed: true,
      },
    ]),
  );
  assert.equal(lines, 3);
  assert.deepEqual(events, [
    { sinceStartMs: 2, event: "start", text: "agent a, seed 1", skippedBefore: false },
    { sinceStartMs: 5, event: "output", text: "loss 3.1", skippedBefore: false },
    { sinceStartMs: 9, event: "iteration", text: "one: a larger rate helps", skippedBefore: false },
  ]);
});

test("of a long trajectory the beginning, the end, events other than output, and the gaps are shown", () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => output(at, "x".repeat(60)));
  const marked = lines.map((line, at) =>
    at === 40 || at === 19_970 ? { ...line, event: "snapshot", text: undefined, name: "s" } : line,
  );
  const { events } = read(written(marked));
  assert.ok(events.length <= 120, String(events.length));
  assert.deepEqual([events[0]?.sinceStartMs, events.at(-1)?.sinceStartMs], [0, 19_999]);
  const found = events.filter(({ event }) => event === "snapshot");
  assert.deepEqual(
    found.map(({ sinceStartMs, skippedBefore }) => [sinceStartMs, skippedBefore]),
    [
      [40, true],
      [19_970, true],
    ],
  );
  assert.equal(events.filter(({ skippedBefore }) => skippedBefore).length, 3);
});

test("the extract of many events, or of one endless line, is bounded", () => {
  const flood = read(
    written(Array.from({ length: 3000 }, (_, at) => ({ event: "budget", sinceStartMs: at, share: 1 }))),
  );
  assert.equal(flood.events.length, 120);
  const long = read(written([output(1, "y".repeat(3_000_000))]));
  assert.ok(JSON.stringify(long.events).length < 2000);
});

test("a long conversation shows failures, notes, reminders and cuts before successful calls", () => {
  const call = (at: number) => ({
    event: "tool-call",
    sinceStartMs: at,
    by: "agent",
    id: String(at),
    name: "shell",
    input: '{"command":"ls"}',
  });
  const note = (at: number) => ({ event: "note", sinceStartMs: at, by: "agent", text: "worth keeping" });
  const { events, failures } = read(
    written(
      Array.from({ length: 1000 }, (_, at) =>
        at === 600
          ? {
              event: "model-try",
              sinceStartMs: at,
              by: "agent",
              call: 1,
              try: 1,
              cause: "rate-limit",
              whose: "provider",
              detail: "slow down",
              usage: null,
              dollars: null,
              waitMs: 500,
            }
          : at % 100 === 50
            ? note(at)
            : call(at),
      ),
    ),
  );
  assert.deepEqual(
    events.slice(15, -15).map(({ sinceStartMs }) => sinceStartMs),
    [50, 150, 250, 350, 450, 550, 600, 650, 750, 850, 950],
  );
  assert.equal(events[0]?.text, "agent: shell ls");
  assert.deepEqual(failures, [{ whose: "provider", cause: "rate-limit", count: 1, detail: "slow down" }]);
});

test("torn, foreign and missing files are reported as such", () => {
  const { events } = read(
    written(["null", "[1]", '"text"', '{"event":{"a":1},"sinceStartMs":"soon"}'], '{"event":"outp'),
  );
  assert.deepEqual(
    events.map(({ event }) => event),
    ["undefined", "undefined", "undefined", "[object Object]", "unreadable"],
  );
  assert.ok(events.every(({ sinceStartMs }) => sinceStartMs === null));
  assert.deepEqual(trajectoryExtract(join(folder, "none")), {
    kind: "unreadable",
    cause: "its file cannot be read (ENOENT)",
  });
});

test("a tool's call is shown once, with its result and without control sequences", () => {
  const of = { by: "agent", id: "1", name: "shell" };
  const { events } = read(
    written([
      { event: "tool-call", sinceStartMs: 1, ...of, input: JSON.stringify({ command: "ls \u001b[31mx" }) },
      {
        ...{ event: "tool-result", sinceStartMs: 9, ...of, outcome: "done", exit: { code: 0 } },
        ...{ text: `a\n\u001b[2Jb${"c".repeat(3000)}`, rest: null, durationMs: 8, executed: true },
      },
    ]),
  );
  assert.equal(events.length, 1);
  const { turn } = events[0]!;
  assert.ok(turn?.kind === "tool" && turn.input.kind === "command");
  assert.equal(turn.input.text, "ls x");
  assert.equal(turn.output.slice(0, 4), "a\nbc");
  assert.equal(turn.output.length, 400);
});

test("the texts of a long conversation are shortened together, so that a page of many attempts stays small", () => {
  const long = "x".repeat(800);
  const { events } = read(
    written(
      Array.from({ length: 300 }, (_, at) => {
        const id = String(at >> 1);
        const of = { sinceStartMs: at, by: "agent", id, name: "edit_file" };
        const input = JSON.stringify({ path: "a", old: long, new: long });
        if (at % 2 === 0) return { event: "tool-call", ...of, input };
        return {
          ...{ event: "tool-result", ...of, outcome: "failed", exit: null },
          ...{ text: long, rest: null, durationMs: 1, executed: true },
        };
      }),
    ),
  );
  assert.ok(events.length > 50);
  assert.ok(JSON.stringify(events).length < 80_000, String(JSON.stringify(events).length));
});

test("an edit whose old and new text are equal for long is shown with its change", () => {
  const of = { by: "agent", id: "1", name: "edit_file" };
  const same = "x = 1\n".repeat(200);
  const input = JSON.stringify({ path: "a.py", old: `${same}read(public)`, new: `${same}read(private)` });
  const { events } = read(
    written([
      { event: "tool-call", sinceStartMs: 1, ...of, input },
      {
        ...{ event: "tool-result", sinceStartMs: 9, ...of, outcome: "done", exit: null },
        ...{ text: "", rest: null, durationMs: 8, executed: true },
      },
    ]),
  );
  const { turn } = events[0]!;
  assert.ok(turn?.kind === "tool" && turn.input.kind === "file");
  assert.deepEqual(turn.input.changes.slice(-2), [
    { kind: "gone", text: "read(public)" },
    { kind: "new", text: "read(private)" },
  ]);
});
