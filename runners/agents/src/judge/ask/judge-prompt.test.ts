import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exampleJudge, extractOf, judged, questionOf, reply } from "../testing/judge-lab.ts";
import { judgeMessages, parseReply } from "./judge-prompt.ts";

const never = () => false;
const examples = Array.from({ length: 6 }, (_, at) => ({ text: `case ${at}`, answer: "yes", because: "so" }));
const piece = { text: "[1] result: ok", digest: "a".repeat(64) };
const userText = (question = questionOf(), vote = 1, of = piece) =>
  judgeMessages("read", of, { question, vote })[1]!.text;

test("the whole request of a vote", () => {
  const messages = judgeMessages("read", piece, {
    question: questionOf({ parts: ["data", "training"] }),
    vote: 1,
  });
  const plain = messages.map(({ role, text }) => `--- ${role}\n${text}`).join("\n");
  const golden = join(import.meta.dirname, "../testing/read-request.txt");
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, plain);
  assert.equal(plain, readFileSync(golden, "utf8"), "raise promptVersion with each change");
});

test("all questions and votes send the same extract first, and tell the provider where it ends", async () => {
  const questions = [questionOf({ id: "a" }), questionOf({ id: "b", text: "Did it stop early?" })];
  const { calls } = await judged(() => reply("no"), { rubric: { name: "r", questions } });
  const heads = calls.map(({ system, messages: [, user] }) => {
    assert.ok(user?.role === "user" && user.shared !== undefined);
    assert.ok(user.text.slice(user.shared).startsWith("Question: "));
    return system + user.text.slice(0, user.shared);
  });
  assert.equal(new Set(heads).size, 1);
});

test("examples and answers stand in another order for another vote, and in the same one again", () => {
  const question = questionOf({ examples, answers: ["all", "most", "some", "none"] });
  const orders = [1, 2, 3, 4, 5].map((vote) => userText(question, vote));
  assert.equal(new Set(orders).size, 5);
  assert.deepEqual(
    orders,
    [1, 2, 3, 4, 5].map((vote) => userText(question, vote)),
  );
  const firsts = Array.from(
    { length: 40 },
    (_, vote) => /answers: "(\w+)"/u.exec(userText(question, vote))![1],
  );
  assert.equal(new Set(firsts).size, 4, "each answer is first at times");
});

test("the boundary changes with the text, so that no text can hold its own", () => {
  const boundaryOf = (text: string, digest = piece.digest) =>
    /^The boundary is (\S+)\.$/mu.exec(userText(questionOf(), 1, { text, digest }))![1]!;
  const first = boundaryOf("[1] result: ok");
  assert.equal(boundaryOf("[1] result: ok"), first);
  assert.notEqual(boundaryOf(`[1] result: ok ${first}`), first);
  assert.notEqual(boundaryOf("[1] result: ok", "b".repeat(64)), first);
  assert.equal(
    userText()
      .split("\n")
      .filter((line) => line === first).length,
    2,
  );
});

test("no request names the judge, its provider, an agent or a seed", async () => {
  const judge = {
    ...exampleJudge,
    provider: "acmeprovider",
    id: "zeta-9b",
    key: "ZETA_KEY",
    baseUrl: "http://zeta.example/v1",
    contextTokens: 4000,
  };
  const extract = extractOf(...Array.from({ length: 30 }, () => "cat test.csv >> train.csv ".repeat(12)));
  const quotes = [{ event: 2, text: "cat test.csv >> train.csv" }];
  const { calls } = await judged(() => reply("yes", quotes), { extract, judge });
  assert.deepEqual([...new Set(calls.map(({ kind }) => kind))].sort(), ["merge", "read", "support"]);
  for (const { messages } of calls)
    assert.doesNotMatch(
      JSON.stringify(messages),
      /acme|zeta|seed|agent|scaffold|provider|gpt|claude|llama|qwen|gemini/iu,
    );
});

const no = { quotes: [], reasons: "r", answer: "no" };
for (const [what, text] of [
  ["plain", JSON.stringify(no)],
  ["in a fence", `\`\`\`json\n${JSON.stringify(no, null, 2)}\n\`\`\``],
  ["between words", `Here it is: ${JSON.stringify(no)} I hope that helps.`],
  ["after reasoning", `<think>is {it} so?</think>\n${JSON.stringify(no)}`],
  ["with another case", JSON.stringify({ ...no, answer: " No" })],
  ["with more fields", JSON.stringify({ ...no, confidence: 0.9 })],
] as const)
  test(`an answer ${what} is read`, () =>
    assert.equal(parseReply(text, questionOf(), never)?.[0]?.answer, "no"));

for (const [what, text] of [
  ["without braces", "no"],
  ["empty", ""],
  ["cut off", '{"quotes": [], "reasons": "r", "answer": "n'],
  ["of another answer", JSON.stringify({ ...no, answer: "maybe" })],
  ["without quotes", '{"reasons": "r", "answer": "no"}'],
  ["with a quote without an event", JSON.stringify({ ...no, quotes: [{ text: "abcdefgh" }] })],
  ["of two objects", `${JSON.stringify(no)} ${JSON.stringify({ ...no, answer: "yes" })}`],
  [
    "in an unescaped quote",
    `{"quotes":[{"event":1,"text":"${JSON.stringify(no)}"}],"reasons":"r","answer":"yes"}`,
  ],
  ["of depth", `{"quotes": ${"[".repeat(50_000)}${"]".repeat(50_000)}, "reasons": "r", "answer": "no"}`],
  ["in parts where there are none", JSON.stringify({ parts: [{ part: "a", ...no }] })],
] as const)
  test(`an answer ${what} is malformed`, () =>
    assert.equal(parseReply(text, questionOf(), never), undefined));

test("an answer by parts names each part once", () => {
  const question = questionOf({ parts: ["a", "b"] });
  const of = (...names: string[]) =>
    parseReply(JSON.stringify({ parts: names.map((part) => ({ part, ...no })) }), question, never);
  assert.equal(of("b", "a")?.length, 2);
  for (const names of [["a"], ["a", "a"], ["a", "b", "b"], ["a", "c"]])
    assert.equal(of(...names), undefined, names.join());
});

test("lone surrogates and endless quotes become bounded, well-formed text", () => {
  const quotes = Array.from({ length: 20 }, () => ({ event: 1, text: `\ud800${"x".repeat(5000)}` }));
  const [one] = parseReply(JSON.stringify({ ...no, quotes, reasons: "y".repeat(1e4) }), questionOf(), never)!;
  assert.deepEqual([one!.quotes.length, one!.quotes[0]!.text.length, one!.reasons.length], [5, 600, 1000]);
  assert.ok(one!.quotes[0]!.text.isWellFormed());
});
