import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { LongText } from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { canonicalJson } from "@mlrb/kit/json-file";
import { experimentsMax, storyBytesMax, toldBytesMax, wholeBytesMax } from "@mlrb/report/page/page-data";
import { pageStory } from "./page-story.ts";

const folder = mkdtempSync(join(tmpdir(), "mlrb-story-"));
after(() => rmSync(folder, { recursive: true }));

const ledger = join(folder, "ledger.json");
writeFileSync(ledger, canonicalJson(exampleLedger()));

function told(events: object[], tail = "") {
  const path = join(folder, "trajectory.jsonl");
  const lines = events.map((event, index) =>
    JSON.stringify({ formatVersion: 1, index, previous: "0", time: "t", sinceStartMs: index, ...event }),
  );
  writeFileSync(path, lines.map((line) => `${line}\n`).join("") + tail);
  const story = pageStory(path, ledger);
  assert.equal(story.kind, "read");
  return story as typeof story & { kind: "read" };
}

const iteration = (text: string) =>
  exampleEvent("iteration", { line: JSON.stringify({ id: "one", hypothesis: text }) });
const textOf = ({ lines }: ReturnType<typeof told>) => lines.map(({ what, text }) => what + text).join("");

test("a story is the terminal's, in plain text, with its budget and its failures", () => {
  const { bytes, budget, ...story } = told([
    exampleEvent("output", { text: "loss 3.1" }),
    exampleEvent("model-try", { whose: "provider", cause: "rate-limit", detail: "slow\u001b[2J down" }),
    iteration("a larger\u001b[31m rate\u202e helps"),
  ]);
  assert.deepEqual(
    story.lines.map(({ what, text }) => `${what}: ${text}`),
    [
      ": pieces of output: 1",
      "try: call 1 of agent, try 1 failed, provider: rate-limit: slow down; not retried",
      "iteration: one: a larger rate helps",
    ],
  );
  assert.deepEqual(story.failures, [
    { whose: "provider", cause: "rate-limit", count: 1, detail: "slow down" },
  ]);
  assert.deepEqual([story.fits, story.missing], [true, []]);
  assert.ok(bytes > 0 && budget.length > 0);
});

test("a story holds at most its bytes of text, whatever an agent writes, and says that it does not fit", () => {
  const long = told(Array.from({ length: 400 }, (_, at) => iteration(`${at} ${"é".repeat(2000)}`)));
  assert.equal(long.fits, false);
  const bytes = Buffer.byteLength(textOf(long));
  assert.ok(bytes <= storyBytesMax && bytes > storyBytesMax - 1000, String(bytes));
});

test("of a long trajectory the first bytes are told, up to a whole line, and the story says that it does not fit", () => {
  const note = exampleEvent("output", { text: "x".repeat(999_000) });
  const events = [...Array(4).fill(note), iteration("within"), note, iteration("behind")];
  const story = told(events);
  assert.ok(story.bytes > toldBytesMax);
  assert.deepEqual([story.fits, story.missing], [false, []]);
  assert.match(textOf(story), /within/);
  assert.doesNotMatch(textOf(story), /behind/);
});

test("torn, foreign and missing files are reported as such", () => {
  assert.deepEqual(told([iteration("one")], '{"event":"outp').missing, [
    "the rest of the trajectory: line 2: it is cut off in the middle of a line",
  ]);
  assert.match(told([], "[1]\n").missing[0]!, /line 1: a line is not a JSON object/);
  const foreign = told([{ event: "later", field: "\u001b[2Jkept" }]);
  assert.match(textOf(foreign), /later.*kept/);
  assert.deepEqual(pageStory(join(folder, "none")), {
    kind: "unreadable",
    cause: "its file cannot be read (ENOENT)",
  });
});

test("a story has its experiments: what was tried, the metric and whether it was kept, in bounded plain text", () => {
  const line = (value: object) => exampleEvent("iteration", { line: JSON.stringify(value) });
  const metric = { name: "loss\u001b[2J", split: "dev", value: 2.5 };
  const { experiments, experimentsMore } = told([
    line({ id: "1", hypothesis: "a larger rate", metric, decision: "keep it" }),
    line({ id: "2", change: `more layers ${"x".repeat(500)}`, decision: "revert" }),
    ...Array.from({ length: experimentsMax }, (_, at) => line({ id: `later-${at}`, change: "again" })),
  ]);
  assert.deepEqual(experiments[0], {
    ...{ sinceStartMs: 0, source: "agent", decision: "keep it", what: "a larger rate" },
    metric: { name: "loss [2J", split: "dev", value: 2.5 },
  });
  assert.ok(experiments[1]!.what.startsWith("more layers") && experiments[1]!.what.length <= 120);
  assert.deepEqual([experiments[1]!.metric, experiments[1]!.decision], [null, "revert"]);
  assert.deepEqual([experiments.length, experimentsMore], [experimentsMax, 2]);
});

test("a system prompt is readable to its end, also from an attachment, and a cut one says where the rest is", () => {
  const prompt = `You are a researcher.\n${"Keep a log. ".repeat(500)}\nThe last rule.`;
  const message = (text: LongText) => exampleEvent("message", { why: "prompt", role: "system", text });
  const story = told([message(prompt), message("short")]);
  assert.equal(story.lines[0]!.what, "prompt");
  assert.equal(story.lines[0]!.full, prompt);
  assert.equal(story.lines[1]!.full, undefined);
  const attachments = join(folder, "attachments");
  mkdirSync(attachments, { recursive: true });
  const digest = "a".repeat(64);
  writeFileSync(join(attachments, digest), prompt);
  const long = { head: prompt.slice(0, 100), digest, bytes: prompt.length };
  told([message(long)]);
  const attached = pageStory(join(folder, "trajectory.jsonl"), ledger, attachments);
  assert.ok(attached.kind === "read" && attached.lines[0]!.full!.endsWith("The last rule."));
  const many = told(Array.from({ length: 10 }, (_, at) => message(`${at} ${prompt}`)));
  const bytes = many.lines.reduce((sum, { full = "" }) => sum + Buffer.byteLength(full), 0);
  assert.ok(bytes < wholeBytesMax + 2000, String(bytes));
  assert.match(many.lines.at(-1)!.full!, /more characters; the command below exports all of it\]$/);
});

test("the input and the result of a failed tool call are readable to their ends", () => {
  const input = JSON.stringify({ command: `python train.py ${"--flag ".repeat(200)}--last` });
  const story = told([
    exampleEvent("tool-call", { name: "shell", input }),
    exampleEvent("tool-result", { name: "shell", exit: { code: 1 }, text: `${"line\n".repeat(300)}the end` }),
  ]);
  const { full } = story.lines.find(({ what }) => what === "shell")!;
  assert.ok(full!.includes("--last") && full!.endsWith("the end"));
});

test("the story of a team has whole messages within the page's limits", () => {
  const member = "lead";
  const text = `${"first ".repeat(100)}\u001b[2J${"last ".repeat(3000)}`;
  const { lines } = told([
    exampleEvent("member-start", { member, agent: "thinker" }),
    exampleEvent("board", { member, to: "coder", purpose: "hand-over", text }),
  ]);
  assert.equal(lines[1]!.what, "[lead] hand-over");
  assert.equal(lines[1]!.full, text);
});
