// What a person sees of a run, whole, on terminals of several widths and in a pipe. The golden files are read
// as closely as code; `UPDATE_GOLDEN=1 node --test` writes them again.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import { Screen } from "../testing/screen.ts";
import { Progress } from "./progress.ts";

const golden = join(import.meta.dirname, "../..", "golden");

const ids = [
  "data[task=baby-lm]",
  "attempt[task=baby-lm,agent=script-weak,seed=1]",
  "attempt[task=baby-lm,agent=script-strong,seed=1]",
  "score[task=baby-lm,agent=script-weak,seed=1,scorer=bits-per-byte]",
  "report",
];
const said: Record<string, string> = {};
const action = { run: { kind: "python", file: "pipelines/steps/stage.py" } };
const instance = (index: number) =>
  ({ index, id: ids[index]!, action, stage: { spec: {} }, axes: {} }) as unknown as Instance;

/** A run of five instances, of which `look` sees every moment that matters. */
function story(
  stream: { write(text: string): unknown },
  look: (title: string) => void,
  env = { TERM: "xterm" },
): Progress {
  let now = 5_000;
  for (const id of ids) said[id] = "";
  const progress = new Progress({
    total: ids.length,
    quiet: false,
    stream,
    env,
    now: () => now,
    lastLine: (log) => said[log],
    // 100 s each, two at once; the report was never timed
    forecast: (standing) => {
      const left = ids.slice(0, 4).reduce((sum, _, index) => {
        const at = standing(index);
        return sum + (at.kind === "ended" ? 0 : 100_000 - (at.kind === "running" ? at.forMs : 0));
      }, 0);
      return left > 0 ? { ms: left / 2, untimed: standing(4).kind === "ended" ? 0 : 1 } : undefined;
    },
  });
  const pass = (ms: number) => {
    for (let gone = 0; gone < ms; gone += 200) {
      now += 200;
      progress.tick();
    }
  };
  const start = (index: number, expectedMs?: number) =>
    progress.show({
      kind: "started",
      instance: instance(index),
      reasons: [{ kind: "first-run" }],
      log: ids[index]!,
      expectedMs,
    });
  const end = (index: number, outcome: Outcome, durationMs: number) =>
    progress.show({ kind: "ended", instance: instance(index), outcome, reasons: [], durationMs });
  end(0, { kind: "reused" }, 0);
  start(1, 100_000);
  start(2);
  progress.show({ kind: "waiting", instance: instance(3), holder: "process 7 on gpu2" });
  look("begun");
  said[ids[1]!] =
    "step 140 of 300, loss 3.21, 12 documents a second, and this goes on for longer than any line";
  said[ids[2]!] = "読み込み中 読み込み中 読み込み中 読み込み中 読み込み中 読み込み中";
  pass(12_000);
  look("after 12 s");
  pass(60_000);
  look("after 72 s");
  end(1, { kind: "succeeded" }, 72_000);
  end(
    2,
    { kind: "failed", cause: "exit-code", detail: "exit status 1: \u001b[2Jcleared\nthe screen" },
    72_000,
  );
  look("two have ended");
  pass(200_000);
  look("after 272 s");
  end(3, { kind: "reused" }, 0);
  start(4);
  pass(3_000);
  look("the last one");
  end(4, { kind: "succeeded" }, 3_000);
  progress.end();
  look("ended");
  return progress;
}

function compare(file: string, text: string): void {
  const path = join(golden, file);
  if (process.env.UPDATE_GOLDEN) writeFileSync(path, text);
  assert.equal(text, readFileSync(path, "utf8"));
}

for (const columns of [40, 80, 200]) {
  test(`on a terminal of ${columns} columns a run looks like golden/progress-${columns}.txt`, () => {
    const screen = new Screen({ columns, rows: 24 });
    let seen = "";
    story(screen, (title) => {
      seen += `===== ${title}\n${screen.text()}`;
    });
    compare(`progress-${columns}.txt`, seen);
  });
}

for (const columns of [40, 80, 200]) {
  test(`in a pipe a run looks like golden/progress-pipe.txt, also with ${columns} columns`, () => {
    let text = "";
    const pipe = { columns, write: (more: string) => (text += more) };
    story(pipe, (title) => {
      text += `===== ${title}\n`;
    });
    compare("progress-pipe.txt", text);
    assert.doesNotMatch(text, /\u001b/);
  });
}

test("a terminal with TERM=dumb gets the same output as a pipe", () => {
  let text = "";
  const stream = { isTTY: true, columns: 80, write: (more: string) => (text += more) };
  const look = (title: string) => {
    text += `===== ${title}\n`;
  };
  story(stream, look, { TERM: "dumb" });
  assert.equal(text, readFileSync(join(golden, "progress-pipe.txt"), "utf8"));
});

test("each change is one write to the screen", () => {
  const screen = new Screen({ columns: 80, rows: 24 });
  let before = 0;
  story(screen, (title) => {
    if (title === "begun") before = screen.writes;
    // the seconds of both change at the same time: 12 s are 12 writes
    if (title === "after 12 s") assert.equal(screen.writes - before, 12);
  });
});

test("a terminal that is resized during a run keeps every permanent line once", () => {
  for (const columns of [20, 33, 40, 60, 79, 81, 120, 200]) {
    const screen = new Screen({ columns: 80, rows: 24 });
    story(screen, (title) => {
      if (title === "begun") screen.resize(columns);
      if (title === "two have ended") screen.resize(80);
    });
    const alone = new Screen({ columns: 80, rows: 24 });
    story(alone, () => {});
    // a line that was printed while the terminal was narrow stays broken, and lacks the names of axes
    const letters = (one: Screen) => one.text().replace(/\s+|\w+=/g, "");
    assert.equal(letters(screen), letters(alone), `${columns} columns`);
  }
});

for (const isTTY of [true, false])
  test(`a waiting attempt is shown with cause, time and command ${isTTY ? "on a terminal" : "in a pipe"}, and the run has no estimate`, () => {
    const id = ids[1]!;
    const began = Date.parse("2026-01-31T10:00:00.000Z");
    const command = "pnpm pipeline attempts resume 3f2a";
    let now = 0;
    let wait: AttemptWait | undefined;
    let text = "";
    const screen = new Screen({ columns: 300, rows: 24 });
    const pipe = { write: (more: string) => (text += more) };
    const shown = () => (isTTY ? screen.text() : text);
    const progress = new Progress({
      ...{ total: 5, quiet: false, stream: isTTY ? screen : pipe, env: { TERM: "xterm" } },
      now: () => now,
      wallNow: () => began + now,
      lastLine: () => "a line of its log",
      forecast: () => ({ ms: 2000, untimed: 1 }),
      waits: () =>
        wait ? [{ stage: id, command: wait.why === "operator" ? command : null, waits: [wait] }] : [],
    });
    const pass = (ms: number) => {
      for (const end = now + ms; now < end; now += 200) progress.tick();
    };
    progress.show({
      kind: "started",
      instance: instance(1),
      reasons: [{ kind: "first-run" }],
      log: id,
      expectedMs: undefined,
    });
    const since = new Date(began).toISOString();
    const later = "2026-01-31T11:00:00.000Z";
    wait = {
      ...{ why: "provider", cause: "unreachable", whose: "provider", since, nextTry: later, giveUpAt: later },
      detail: "connect ECONNREFUSED 127.0.0.1:8000",
    };
    pass(75_000);
    assert.match(shown(), /waits +attempt.*unreachable: connect ECONNREFUSED 127\.0\.0\.1:8000/);
    assert.match(shown(), isTTY ? /1 of them waiting/ : /running .*waits for the provider/);
    assert.doesNotMatch(shown(), / left/);
    assert.equal(shown().match(/\] waits/g)!.length, 1, "printed once");
    wait = { ...wait, why: "operator", cause: "wrong-key", whose: "operator", detail: "401: no such key" };
    pass(2_000);
    assert.match(shown(), /waits for you: wrong-key: 401: no such key; once repaired: pnpm pipeline/);
    wait = undefined;
    pass(2_000);
    assert.match(shown(), /\] resumed attempt/);
    progress.end();
  });

test("a result that is loaded is shown as running with its size, and printed once it is taken", () => {
  const lines: string[] = [];
  const stream = { write: (line: string) => lines.push(line), isTTY: true, columns: 120, rows: 24 };
  let now = 0;
  const env = { TERM: "xterm" };
  const progress = new Progress({ total: 5, quiet: false, stream, env, now: () => now });
  progress.show({ kind: "loading", instance: instance(0), bytes: 3 << 20 });
  now = 61_000;
  progress.tick();
  assert.match(lines.join(""), /1 m 1 s {2}data\[task=baby-lm\] \| loads 3\.0 MiB from the remote cache/);
  const reasons = [{ kind: "unchanged" }, { kind: "remote", signedBy: "alice" }] as const;
  progress.show({
    kind: "ended",
    instance: instance(0),
    outcome: { kind: "reused" },
    reasons: [...reasons],
    durationMs: 0,
  });
  progress.end();
  assert.match(
    lines.join(""),
    /\[1\/5\] taken {3}data\[task=baby-lm\] {2}\(taken from the remote cache, signed by alice\)/,
  );
});

test("a stage that writes nothing is shown with what it runs, attempts with their cost, and long reasons are cut", () => {
  const screen = new Screen({ columns: 80, rows: 24 });
  let now = 0;
  const progress = new Progress({
    ...{ total: 5, quiet: false, stream: screen, env: { TERM: "xterm" }, now: () => now },
    lastLine: () => undefined,
    spent: () => ({ words: "spent 0.40 dollars", running: new Map([[ids[0]!, "0.15 dollars"]]) }),
  });
  const files = ["a", "b", "c"].map((name) => `scorers/exact/${name.repeat(30)}.ts`);
  progress.show({
    ...{ kind: "started", instance: instance(0), log: "none", expectedMs: undefined },
    reasons: files.map((file) => ({ kind: "code-changed", file })),
  });
  now += 3000;
  progress.tick();
  const [start, head, running] = screen.text().split("\n");
  progress.end();
  assert.match(start!, /^\[0\/5\] start {3}data\[task=baby-lm\] {2}\(code changed: .*…\)$/);
  assert.equal(start!.length, 79);
  assert.match(head!, /0\/5 done, 1 running, spent 0\.40 dollars$/);
  assert.match(running!, /3 s, 0\.15 dollars {2}data\[task=baby-lm\] \| no output yet; runs pipelines/);
});
