import assert from "node:assert/strict";
import { test } from "node:test";
import { failureText } from "./print-failures.ts";

test("a failure's cause is one line without control sequences", () => {
  const cause = "provider: \u001b[2Jgone\nfailed  other";
  assert.equal(
    failureText({ stage: "attempt", cause, said: ["last\u0007"], command: "pnpm pipeline log attempt" }),
    "failed  attempt\n        provider:  [2Jgone failed  other\n        | last \n        pnpm pipeline log attempt\n",
  );
});
