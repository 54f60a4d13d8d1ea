import assert from "node:assert/strict";
import { test } from "node:test";
import { html } from "../page/html.ts";
import { answersOf } from "../testing/judge-example.ts";
import { answersPart } from "./answers-part.ts";

/** One answer whose vote has these parts. */
function part(vote: object, quote: object = {}): string {
  const answers = answersOf({ copied: "yes" });
  const [first] = answers.questions[0]!.votes;
  Object.assign(first!, vote);
  Object.assign(first!.quotes[0]!, quote);
  return html`${answersPart([{ answers }])}`.markup;
}

test("an answer is folded with its reasons and quotes, and says what each quote is worth", () => {
  assert.match(part({}), /<details><summary>copied: <b class="bad">yes<\/b><\/summary>/);
  assert.match(part({}), /Because of event 3\.<\/span>\s*<blockquote class="said">cp test\.jsonl/);
  assert.match(part({}), /\(event 3: found there, supports the answer\)/);
  assert.match(part({}, { supports: false }), /found there, does not support the answer/);
  assert.match(part({}, { found: false, supports: null }), /event 3: not found there/);
});

test("what the model said is shown where the rules made another answer of it, and that it did not read all", () => {
  assert.match(part({ answer: "unsupported", said: "yes" }), /<li>unsupported \(the model said: yes\)/);
  assert.match(part({ readAll: false }), /not all of the attempt was read/);
  assert.doesNotMatch(part({}), /the model said|not all/);
});

test("text of agents and models becomes no markup, and floods no page", () => {
  const evil = `</blockquote><script>alert(1)</script>\u202e${"x".repeat(1e6)}`;
  for (const made of [part({ reasons: evil }), part({}, { text: evil }), part({ said: evil })]) {
    assert.doesNotMatch(made, /<script|\u202e/);
    assert.ok(made.length < 10_000, `${made.length} characters`);
  }
});

test("an attempt that no judge read has no such part", () => {
  assert.equal(answersPart([]), false);
});
