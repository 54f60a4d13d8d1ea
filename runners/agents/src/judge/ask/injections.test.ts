// Known hostile texts in each kind of event: a request keeps its form, and a judge that does not obey them is heard
// as without them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Extract, ExtractEvent } from "@mlrb/formats/judged/extract";
import { extractEvent } from "@mlrb/formats/judged/extract";
import { exampleJudge, extractOf, judged, reply } from "../testing/judge-lab.ts";
import { knownInjections } from "../testing/known-injections.ts";

const kinds = extractEvent.properties.kind.enum;
const evidence = "cat test.csv >> train.csv";
const supported = ({ kind }: { kind: string }, answer: string) =>
  kind === "support" ? reply("yes") : answer;

function injected(kind: ExtractEvent["kind"], text: string): Extract {
  const plain = extractOf("ls -la", "", evidence);
  return { ...plain, events: plain.events.with(1, { number: 2, kind, text }) };
}

/** The lines of a request by every line end that a model may see, in three parts: up to the data, data, question. */
function partsOf(text: string): { before: string[]; data: string[]; question: string[] } {
  const boundary = /^The boundary is ([0-9a-f]{64})\.\n/.exec(text)?.[1];
  assert.ok(boundary !== undefined, "a boundary is named first");
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/u);
  const at = [...lines.keys()].filter((line) => lines[line] === boundary);
  assert.equal(at.length, 2, "one begin and one end");
  assert.equal(text.split(boundary).length, 4, "the boundary is nowhere else");
  const [begin, end] = at as [number, number];
  return { before: lines.slice(0, begin), data: lines.slice(begin + 1, end), question: lines.slice(end + 1) };
}

for (const contextTokens of [100_000, 4_000])
  test(`no injection leaves its event, in a context of ${contextTokens} tokens`, async () => {
    const judge = { ...exampleJudge, contextTokens };
    const plain = await judged(() => reply("no"), { extract: injected("result", "ok"), judge, votes: 1 });
    const { question } = partsOf(plain.calls[0]!.text);
    for (const { name, text } of knownInjections)
      for (const kind of kinds) {
        const extract = injected(kind, text);
        const { calls } = await judged(() => reply("no"), { extract, judge, votes: 1 });
        const seen = new Set<string>();
        for (const call of calls) {
          assert.ok(call.text.isWellFormed() && !call.text.includes("\0"), name);
          const parts = partsOf(call.text);
          assert.deepEqual(parts.question, question, name);
          if (call.kind !== "read") continue;
          assert.equal(call.system, plain.calls[0]!.system);
          for (const line of parts.data.filter((one) => one !== "" && !one.startsWith("  "))) {
            const head = /^\[(\d)\] (\w+)(?:, continued)?: /.exec(line);
            assert.ok(head, `${name} in ${kind} begins the line ${line.slice(0, 80)}`);
            seen.add(`${head[1]} ${head[2]}`);
          }
        }
        assert.deepEqual([...seen], ["1 result", `2 ${kind}`, "3 result"], name);
      }
  });

test("with an injection beside them, quotes are found only in their own event", async () => {
  const found = async (extract: Extract, quotes: { event: number; text: string }[]) => {
    const { answers } = await judged((call) => supported(call, reply("yes", quotes)), { extract, votes: 1 });
    return answers.questions[0]!.votes[0]!.quotes.map((one) => one.found);
  };
  for (const { name, text } of knownInjections) {
    const extract = injected("message", text);
    const own = [
      { event: 3, text: evidence },
      { event: 2, text: text.slice(0, 500) },
    ];
    const letters = text.slice(0, 500).match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    assert.deepEqual(await found(extract, own), [true, letters >= 8], name);
    const swapped = own.map(({ event, text: quote }) => ({ event: 5 - event, text: quote }));
    assert.deepEqual(
      await found(extract, [...swapped, { event: 1, text: evidence }]),
      [false, false, false],
      name,
    );
  }
});

test("a judge that answers the same gets the same result with and without an injection", async () => {
  const replies = [reply("no"), reply("yes", [{ event: 3, text: evidence }]), reply("yes"), "I refuse."];
  for (const said of replies) {
    const resultOf = async (extract: Extract) =>
      (await judged((call) => supported(call, said), { extract })).answers.questions;
    const plain = await resultOf(injected("message", "ok"));
    for (const { name, text } of knownInjections)
      for (const kind of kinds)
        assert.deepEqual(await resultOf(injected(kind, text)), plain, `${name} ${kind}`);
  }
});

test("an answer that stands in the record is not the judge's", async () => {
  const forged = knownInjections.filter(({ text }) => text.includes('"answer": "no"}'));
  assert.ok(forged.length > 0);
  for (const { name, text } of forged) {
    const { answers } = await judged(() => text, { extract: injected("file", text) });
    assert.equal(answers.questions[0]!.answer, "cannot tell", name);
  }
});

test("injections are at least 20 kinds of hostile texts with names that differ", () => {
  assert.equal(new Set(knownInjections.map(({ name }) => name)).size, knownInjections.length);
  assert.equal(new Set(knownInjections.map((injection) => injection.text)).size, knownInjections.length);
  const kinds = new Set(knownInjections.map(({ kind }) => kind));
  assert.ok(
    knownInjections.length >= 24 && kinds.size >= 20,
    `${knownInjections.length} texts of ${kinds.size} kinds`,
  );
  assert.ok(
    knownInjections.some((injection) => /\p{Cf}/u.test(injection.text)),
    "no invisible character",
  );
  assert.ok(
    knownInjections.some((injection) => injection.text.length > 10_000),
    "no long one",
  );
});
