import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeBound } from "./judge-bound.ts";
import { exampleJudge, extractOf, judged, questionOf } from "./testing/judge-lab.ts";

/** Every reply is malformed or as dear as can be. */
async function dearest(judge: typeof exampleJudge, text: string, votes: number) {
  const question = questionOf({ parts: ["data", "training"] });
  const quote = { event: 1, text: text.slice(0, 600) };
  const parts = ["data", "training"].map((part) => ({
    ...{ part, answer: "yes", reasons: "r".repeat(1000) },
    quotes: Array.from({ length: 5 }, () => quote),
  }));
  const seen = new Set<string>();
  const { calls, trouble } = await judged(
    ({ kind, text: sent }) => {
      if (kind === "support" || !seen.has(sent)) return seen.add(sent) && "malformed";
      return JSON.stringify({ parts });
    },
    { extract: extractOf(text), question, judge, votes },
  );
  assert.equal(trouble, undefined);
  const bound = judgeBound({
    ...{ model: judge, rubric: { questions: [question] }, votes, extractCharactersMax: text.length },
  });
  const bytes = calls.map(({ messages }) => Buffer.byteLength(JSON.stringify([messages, []])));
  return { bound, calls: calls.length, tokens: bytes.reduce((sum, one) => sum + one / 2, 0) };
}

for (const [what, judge, text] of [
  ["a short extract", exampleJudge, "é\n".repeat(18_000)],
  ["an extract in pieces", { ...exampleJudge, contextTokens: 40_000 }, "好\n".repeat(60_000)],
] as const)
  test(`no judge can use more about ${what} than the bound says`, async () => {
    const { bound, calls, tokens } = await dearest(judge, text, 2);
    assert.ok(calls <= bound.calls, `${calls} calls of ${bound.calls}`);
    assert.ok(tokens <= bound.inputTokens, `${tokens} tokens of ${bound.inputTokens}`);
    assert.equal(bound.outputTokens, bound.calls * 32_000);
  });

test("the bound of one question without parts is its two calls, each twice, for each vote", () => {
  const model = { ...exampleJudge, maxOutputTokens: 1000 };
  const rubric = { questions: [questionOf()] };
  const bound = judgeBound({ model, rubric, votes: 3, extractCharactersMax: 1000 });
  assert.deepEqual([bound.calls, bound.outputTokens], [12, 12_000]);
});

test("the bound of a long extract has its pieces and their merge", () => {
  const model = { ...exampleJudge, contextTokens: 4000 }; // 4500 bytes for a piece
  const rubric = { questions: [questionOf({ parts: ["a", "b"] })] };
  const { calls } = judgeBound({ model, rubric, votes: 1, extractCharactersMax: 3000 });
  assert.equal(calls, 2 * (4 + 1 + 2));
});
