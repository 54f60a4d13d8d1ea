import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { extract as format } from "@mlrb/formats/judged/extract";
import { checkFormat } from "@mlrb/formats/read-format";
import { extractDraft } from "./extract-draft.ts";

const limits = { characters: 20_000, eventCharacters: 2_000 };
const plain = (text: string) => text;

function filled(events: [Parameters<ReturnType<typeof extractDraft>["add"]>[0], string][], within = limits) {
  const draft = extractDraft(within, plain);
  for (const [kind, text] of events) draft.add(kind, text);
  const made = draft.extract();
  assert.equal(checkFormat(format, made).kind, "ok");
  assert.deepEqual(
    made.events.map(({ number }) => number),
    made.events.map((_, at) => at + 1),
  );
  return made;
}

const size = ({ events }: Pick<ReturnType<typeof filled>, "events">) =>
  events.reduce((all, { text }) => all + text.length, 0);
const many = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at));

test("what fits is whole and in order, and nothing counts as left out", () => {
  const made = filled([
    ["prompt", "Train."],
    ["reasoning", "I plan."],
    ["call", "shell\ncommand: ls"],
    ["result", "a.py"],
  ]);
  assert.deepEqual(
    made.events.map(({ kind, text }) => `${kind} ${text}`),
    ["prompt Train.", "reasoning I plan.", "call shell\ncommand: ls", "result a.py"],
  );
  assert.deepEqual(made.leftOut, { events: 0, characters: 0 });
});

test("a long text keeps its beginning and its end, and says how much is missing", () => {
  const made = filled([["result", `first${"x".repeat(9_000)}last`]]);
  assert.match(made.events[0]!.text, /^first.*\n\[… 7009 characters are left out …\]\n.*last$/s);
  assert.deepEqual(made.leftOut, { events: 0, characters: 7_009 });
});

test("fifty megabytes of results push out no call", () => {
  const noise = "noise ".repeat(40_000);
  const events = many(210, (at) => `shell\ncommand: step ${at}`).flatMap(
    (call): Parameters<typeof filled>[0] => [
      ["reasoning", noise],
      ["call", call],
      ["result", noise],
    ],
  );
  const room = { ...limits, characters: 60_000 };
  const made = filled([["prompt", "Train."], ...events], room);
  const calls = made.events.filter(({ kind }) => kind === "call");
  assert.deepEqual(
    calls.map(({ text }) => text),
    many(210, (at) => `shell\ncommand: step ${at}`),
  );
  assert.equal(made.events[0]!.text, "Train.");
  assert.ok(size(made) < room.characters + 500, `${size(made)}`);
  assert.ok(made.leftOut.characters > 49e6);
  assert.match(made.events.at(-1)!.text, /events are not shown/);
});

test("of too many calls the long ones are cut before any is lost, then the middle is lost", () => {
  const long = filled(
    many(20, (at) => (at === 9 ? "cat test.json" : "y".repeat(5_000))).map((text) => ["call", text]),
  );
  assert.equal(long.leftOut.events, 0);
  assert.ok(long.events.some(({ text }) => text === "cat test.json"));
  const short = filled(many(5_000, (at) => `call ${at}`).map((text) => ["call", text]));
  const texts = short.events.map(({ text }) => text);
  assert.deepEqual([texts[0], texts[1]], ["call 0", "call 1"]);
  assert.ok(texts.includes("call 4999"));
  assert.ok(!texts.includes("call 2500"));
  assert.equal(short.leftOut.events, 5_000 - texts.filter((text) => text.startsWith("call ")).length);
});

test("results keep half of the room that noisy calls would take, and calls what results do not need", () => {
  const of = (kind: "call" | "result", count: number): [typeof kind, string][] =>
    many(count, () => kind.repeat(150)).map((text) => [kind, text]);
  const sizeOfKind = (made: ReturnType<typeof filled>, of: string) =>
    size({ events: made.events.filter(({ kind }) => kind === of) });
  const noisy = filled([...of("call", 3_000), ...of("result", 10)]);
  assert.ok(sizeOfKind(noisy, "result") > 8_000, "ten results of 900 characters");
  const few = filled([...of("call", 25), ...of("result", 2)]);
  assert.deepEqual(few.leftOut, { events: 0, characters: 0 });
});

test("any number of events takes bounded memory, and each counts as shown or left out", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const draft = extractDraft(limits, plain);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 60_000; at++) draft.add("result", `${at} `.padEnd(2_000, "n"));
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  assert.ok(grown < 20e6, `${grown} bytes`);
  const { events, leftOut } = draft.extract();
  assert.equal(events.filter(({ kind }) => kind === "result").length + leftOut.events, 60_000);
});

test("of a text of any length, only what can be shown is cleaned", () => {
  let longest = 0;
  const draft = extractDraft(limits, (text) => {
    longest = Math.max(longest, text.length);
    return text;
  });
  draft.add("result", `a${"\0".repeat(20e6)}z`);
  assert.ok(longest < 100_000, `${longest}`);
  const { events, leftOut } = draft.extract();
  assert.match(events[0]!.text, /^a.*z$/s);
  assert.ok(leftOut.characters > 19.9e6);
});

test("what hides, steers or turns text is spelt out, and halves of characters are no longer there", () => {
  const made = filled([["result", "a\u200bb\u202ec\u001b[31md\ud800e\u{e0041}f\ufe0fg\u0000h\r\ni\tj"]]);
  assert.equal(
    made.events[0]!.text,
    "a\\u{200b}b\\u{202e}c\\u{1b}[31md\\u{d800}e\\u{e0041}f\\u{fe0f}g\\u{0}h\ni\tj",
  );
});

test("a cut leaves no half of a character", () => {
  const { text } = filled([["result", `x${"😀".repeat(5_000)}`]]).events[0]!;
  assert.ok(text.isWellFormed());
});

test("a measurement names events by their final numbers", () => {
  const draft = extractDraft(limits, plain);
  for (let at = 0; at < 5_000; at++) draft.add("result", `result ${at}`, 2 * at);
  const made = draft.extract((eventsOf) => [
    `first ${eventsOf(0)}, lost ${eventsOf(5_000)}, last ${eventsOf(9_998)}`,
  ]);
  const last = made.events.findIndex(({ text }) => text === "result 4999") + 1;
  assert.equal(made.events.at(-1)!.text, `first 1, lost , last ${last}`);
});
