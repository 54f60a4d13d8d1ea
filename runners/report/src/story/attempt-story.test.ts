import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { displayWidth } from "@mlrb/core/text/display-width";
import type { LedgerMember } from "@mlrb/formats/attempt/ledger";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { UsedPrice } from "@mlrb/formats/attempt/used-price";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import {
  everyEvent,
  exampleAttempt,
  exampleScore,
  modelCall,
  teamEvents,
  toolResult,
} from "../testing/attempt-example.ts";
import { hostileText } from "../testing/page-example.ts";
import { attemptStory } from "./attempt-story.ts";
import { eventWords, factsWords } from "./event-words.ts";
import { storyText } from "./story-text.ts";

const golden = join(import.meta.dirname, "..", "..", "golden");

const example = () =>
  exampleAttempt(after, everyEvent(new Map()), {
    ledger: {
      read: {
        ...exampleLedger({ ended: "time-limit" }),
        budget: { wallMs: 600_000, tokens: 2000, dollars: 1 },
        usage: { calls: 4, uncounted: 1 },
        waitedMs: { "rate-limit": 2000 },
      } as never,
    },
    scores: {
      verdict: "undecided",
      primary: "loss",
      final: [
        exampleScore("loss"),
        { ...exampleScore("accuracy"), kind: "rejected", reason: "no model", baseline: null } as never,
      ],
      checkpoints: [{ checkpoint: "25%", atMs: 150_000, scores: [exampleScore("loss", { value: 3.5 })] }],
    },
  });

const memberOf = (name: string, more: Partial<LedgerMember> = {}): LedgerMember => ({
  ...{ name, agent: "thinker", kind: "llm", calls: 12, inputTokens: 3400, outputTokens: 560, dollars: 0.5 },
  ...{ waitedMs: 61_000, messages: 3, messageCharacters: 420, end: "submitted", ...more },
});
const talking = { calls: 4, inputTokens: 500, outputTokens: 60, dollars: 0.1 };
const exampleTeam = () =>
  exampleAttempt(after, teamEvents(), {
    ledger: {
      read: exampleLedger({ members: [memberOf("lead"), memberOf("coder", { dollars: null })], talking }),
    },
  });

for (const [name, width, made] of [
  ["100", 100, example],
  ["50", 50, example],
  ["team", 100, exampleTeam],
] as const)
  test(`the story of an attempt in ${width} columns is, byte for byte, golden/story-${name}.txt`, () => {
    const text = storyText(attemptStory(made()), { width, color: false });
    const path = join(golden, `story-${name}.txt`);
    if (process.env.UPDATE_GOLDEN) writeFileSync(path, text);
    assert.equal(text, readFileSync(path, "utf8"));
  });

test("an event without words of its own has its fields, and digests in short", () => {
  const digest = "0123456789ab".padEnd(64, "c");
  const words = factsWords({ agent: "script-weak", programDigest: digest, line: `${digest} too long` });
  assert.equal(words, `agent script-weak, programDigest 0123456789ab, line ${digest} too long`);
});

test("the budget names the peak of GPU memory only where the ledger has one", () => {
  const memoryOf = (more: object) =>
    attemptStory(exampleAttempt(after, [], { ledger: { read: exampleLedger(more) } })).budget.find(
      ({ name }) => name === "GPU memory",
    )?.words;
  assert.equal(memoryOf({ gpuMemoryPeakMiB: 38_912 }), "38912 MiB at the polled peak");
  assert.equal(memoryOf({}), undefined);
});

test("dollars are shown with the prices that they were counted by and the source of each", () => {
  const priced = (prices: UsedPrice[] | undefined) =>
    exampleAttempt(after, [exampleEvent("start", { kind: "llm" })], {
      ledger: { read: exampleLedger(prices && { prices }) },
    });
  const one = { provider: "openai", model: "m", input: 1.25, output: 10 };
  const said = { ...one, source: "--price of run R\u001b[2J" };
  const page = { ...one, model: "n", asOf: "2026-11-22", source: "https://openai.example/n" };
  const partOf = (prices: UsedPrice[] | undefined) =>
    attemptStory(priced(prices)).budget.find(({ name }) => name === "prices")?.words;
  assert.equal(
    partOf([said, page]),
    "per million tokens: openai m 1.25 in, 10 out (--price of run R); " +
      "openai n 1.25 in, 10 out (https://openai.example/n, 2026-11-22)",
  );
  for (const none of [undefined, []]) assert.equal(partOf(none), undefined);
});

test("no line is wider than the terminal, at any width", () => {
  const wide: TrajectoryEvent[] = [
    exampleEvent("start", { kind: "llm" }),
    { event: "note", by: "agent", text: "漢字".repeat(300) },
    { event: "iteration", line: "x".repeat(9000), wellFormed: false },
    toolResult("a", {
      outcome: "failed",
      name: "very-long-name-of-an-unknown-tool-of-nothing",
      text: "y".repeat(500),
    }),
  ];
  for (const width of [40, 63, 200])
    for (const full of [false, true])
      for (const source of [exampleAttempt(after, wide), example()])
        for (const line of storyText(attemptStory(source, { full }), { width, color: false, full }).split(
          "\n",
        ))
          assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
});

test("a line of iterations.jsonl without an id or without words is shown as it is", () => {
  const words = (line: object) =>
    eventWords({ event: "iteration", line: JSON.stringify(line), wellFormed: true } as TrajectoryEvent);
  assert.equal(words({ id: 3, hypothesis: "more heads" }), "3: more heads");
  for (const line of [{ hypothesis: "more heads" }, { id: 3, metric: {} }])
    assert.equal(words(line), JSON.stringify(line));
});

test("text of an agent can neither control the terminal nor break a line", () => {
  const said = `${hostileText}\u001b[2J\u001b]0;title\u0007\r\nfaked: line\u202e`;
  const events: TrajectoryEvent[] = [
    exampleEvent("start", { kind: said }),
    { event: "output", stream: "stdout", text: said },
    { event: "iteration", line: JSON.stringify({ id: said, hypothesis: said }), wellFormed: true },
    modelCall(1, { by: said, text: said, model: said, answeredBy: said, finish: "refusal" }),
    { event: "tool-call", by: said, id: said, name: said, input: said },
    toolResult(said, { by: said, name: said, text: said, outcome: "failed" }),
    { event: "snapshot-skipped", because: said },
    { event: said, [said]: said } as never,
    exampleEvent("end", { ended: said }),
  ];
  for (const full of [false, true]) {
    const source = exampleAttempt(after, events, {
      where: { image: said },
      ledger: { read: null, why: said },
    });
    const text = storyText(attemptStory(source, { full }), { width: 100, color: false, full });
    assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Cf}]/u);
    assert.doesNotMatch(text, /^faked/m);
  }
});

test("quiet events are counted between notable ones, and failed or long commands are notable", () => {
  const run = (id: string, command: string, more = {}): TrajectoryEvent[] => [
    { event: "tool-call", by: "agent", id, name: "shell", input: JSON.stringify({ command }) },
    toolResult(id, more),
  ];
  const { timeline, failures } = attemptStory(
    exampleAttempt(after, [
      exampleEvent("start", { kind: "llm" }),
      modelCall(1),
      ...run("a", "ls"),
      modelCall(2),
      ...run("b", "python train.py", { durationMs: 20_000 }),
      ...run("c", "make", { exit: { code: 2 } }),
      ...run("e", "grep -r loss .", { outcome: "failed", exit: { code: 1 } }),
      ...run("f", "python big.py", { outcome: "failed", exit: { signal: "SIGKILL" } }),
      ...run("d", "sleep 999", { outcome: "timed-out", exit: { signal: "SIGKILL" } }),
      exampleEvent("end", { ended: "finished" }),
    ]),
  );
  assert.deepEqual(
    timeline.map(({ what, text }) => `${what}: ${text}`),
    [
      "started: an agent of kind llm, sandbox plain, deadline 2026-01-02T03:14:05.000Z",
      ": model calls: 2, programs run by tools: 1",
      "shell: python train.py (done, exit 0, 20 s)",
      "shell: make (done, exit 2, 300 ms)",
      "shell: grep -r loss . (failed, exit 1, 300 ms)",
      "shell: python big.py (failed, ended by SIGKILL, 300 ms)",
      "shell: sleep 999 (timed-out, ended by SIGKILL, 300 ms)",
      "ended: finished",
    ],
  );
  // an exit code is no failure: a search without a match ends with 1
  assert.deepEqual(failures, [
    { whose: "agent-error", cause: "tool failed", count: 1, detail: "shell: total 0" },
    { whose: "agent-error", cause: "tool timed-out", count: 1, detail: "shell: total 0" },
  ]);
});

test("of twenty thousand notable events the beginning, the end and the number between are shown", () => {
  const many: TrajectoryEvent[] = Array.from({ length: 20_000 }, (_, at) => ({
    event: "note",
    by: "agent",
    text: `note ${at}`,
  }));
  const { timeline } = attemptStory(exampleAttempt(after, many));
  assert.ok(timeline.length <= 451, String(timeline.length));
  const left = timeline.find(({ what }) => what === "…")!;
  assert.equal(timeline.length - 1 + Number(/^\d+/.exec(left.text)![0]), 20_000);
  assert.match(timeline[0]!.text, /note 0$/);
  assert.match(timeline.at(-1)!.text, /note 19999$/);
});

test("the story names what it lacks: a damaged trajectory, no ledger, no scores, no end", () => {
  const noLedger = { ledger: { read: null, why: "it has no ledger" } } as const;
  const missing = (more: Parameters<typeof exampleAttempt>[2]) =>
    attemptStory(exampleAttempt(after, [exampleEvent("start")], more)).missing.map(
      (one) => one.split(":")[0],
    );
  assert.deepEqual(missing({ tail: "{", ...noLedger }), [
    "the rest of the trajectory",
    "the budget that it used",
    "its scores",
  ]);
  assert.deepEqual(missing({}), ["its end", "its scores"]);
  assert.deepEqual(missing({ state: "running", ...noLedger }), ["the budget that it used", "its end"]);
  assert.deepEqual(missing({ state: "lost", ...noLedger }), ["the budget that it used", "a measurement"]);
  const failure = "the replay does not fit its recording: it ends after 2 answers";
  const failed = exampleAttempt(after, [exampleEvent("start")], { state: "lost", failure, ...noLedger });
  assert.ok(attemptStory(failed).missing.includes(`a measurement: ${failure}`));
});

test("a submission has the digest that the report has, not the ledger's", () => {
  const source = { ...example(), submission: "ab".repeat(32) };
  assert.equal(attemptStory(source, { full: false }).submission?.digest, "ab".repeat(32));
  const { submission: _, ...without } = source;
  assert.equal(attemptStory(without, { full: false }).submission?.digest, null);
});

test("a value whose toString is no function is shown as JSON", () => {
  const result = { kind: "exited", code: { toString: 1 } };
  const line = exampleEvent("exec-end", { result: result as never });
  assert.match(eventWords(line), /exit {"toString":1}/);
});

test("what an attempt may spend and what a restore point holds are sentences, not names of fields", () => {
  const words = (event: object) => eventWords(event as TrajectoryEvent);
  const purse = { event: "purse", run: "R", maxDollars: null, prices: [] };
  assert.equal(words(purse), "no spending limit (--max-cost) and no known prices, of run R");
  assert.equal(
    words({ ...purse, maxDollars: 5, prices: [{}] }),
    "at most 5 dollars (--max-cost) and prices of 1 model, of run R",
  );
  const restorePoint = { event: "restore-point", name: "0001", files: 1, copiedBytes: 4809, torn: 0 };
  assert.equal(words(restorePoint), "0001: 1 file, 4.8 kB copied");
  assert.match(words({ ...restorePoint, torn: 2 }), /; 2 files changed during the copy$/);
});

test("names and messages of a team can neither control the terminal nor flood it, at any width", () => {
  const said = `${hostileText}\u001b[2J\u001b]0;title\u0007\r\nfaked: line\u202e${"x".repeat(16_000)}`;
  const members = [memberOf(said, { agent: said, end: said })];
  const wild: TrajectoryEvent[] = Array.from({ length: 300 }, (_, at) =>
    exampleEvent("board", { member: `${at}${said}`, to: said, text: said }),
  );
  const sources = [
    exampleAttempt(after, teamEvents({ lead: said, text: said }), {
      ledger: { read: exampleLedger({ members }) },
    }),
    exampleAttempt(after, [...teamEvents({ lead: said, text: said }), ...wild], {
      ledger: { read: null, why: "" },
    }),
  ];
  for (const full of [false, true])
    for (const width of [40, 100])
      for (const source of sources) {
        const text = storyText(attemptStory(source, { full }), { width, color: false, full });
        assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Cf}]/u);
        assert.doesNotMatch(text, /^faked/m);
        for (const line of text.split("\n")) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
      }
});
