import assert from "node:assert/strict";
import { test } from "node:test";
import { deepText } from "./deep-text.ts";

test("each deep check has a line, and a failed one its cause and the way out", () => {
  assert.equal(
    deepText([
      { kind: "passed", name: "gpu-step[agent=a]", ms: 12_345, found: "training on H100" },
      { kind: "failed", name: "lm-eval[task=b]", ms: null, cause: "not downloaded: c", help: "download it" },
      { kind: "failed", name: "hub-file", ms: 400, cause: "odd \u001b[2J bytes", help: "try again" },
    ]),
    `deep checks
  ✔ gpu-step[agent=a]  12.3 s  training on H100
  ✖ lm-eval[task=b]         –  not downloaded: c
                               download it
  ✖ hub-file            0.4 s  odd \\u{1b}[2J bytes
                               try again
  2 of 3 failed; repair, then repeat
`,
  );
});

test("without a failed check the last line says so", () => {
  assert.match(deepText([{ kind: "passed", name: "a", ms: 1, found: "b" }]), /\n {2}all 1 passed\n$/);
});
