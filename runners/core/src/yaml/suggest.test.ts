import assert from "node:assert/strict";
import { test } from "node:test";
import { didYouMeanIn } from "./suggest.ts";

test("the command that lists all names is apart from the names that are shown, and follows a question", () => {
  const names = Array.from({ length: 13 }, (_, at) => `agent-${at}`);
  const far = didYouMeanIn("zzzzzzzz", names, "pnpm pipeline list agents");
  assert.match(far, /agent-11, and 1 more; `pnpm pipeline list agents` shows all 13$/);
  const near = didYouMeanIn("gtp", ["gpt"], "pnpm pipeline list agents");
  assert.equal(near, 'did you mean "gpt"? `pnpm pipeline list agents` shows all 1');
});
