import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeUsage } from "./judge-usage.ts";

const question = { id: "copied", text: "Was it copied?", definition: "As a file.", examples: [] };
const rubric = { questions: [question] };

test("usage grows with votes, questions, parts and the length of the extract", () => {
  const one = judgeUsage({ rubric, votes: 1, characters: 4000 });
  assert.deepEqual([one.calls, one.outputTokens], [2, 1000]);
  assert.ok(one.inputTokens > 1000 + 1500 && one.inputTokens < 1000 + 1600, String(one.inputTokens));
  assert.equal(judgeUsage({ rubric, votes: 3, characters: 4000 }).calls, 6);
  const more = judgeUsage({ rubric, votes: 1, characters: 8000 });
  assert.equal(more.inputTokens - one.inputTokens, 1000);
  const parts = { questions: [{ ...question, parts: ["plan", "data"] }] };
  assert.deepEqual(judgeUsage({ rubric: parts, votes: 1, characters: 4000 }).calls, 3);
});
