import assert from "node:assert/strict";
import { test } from "node:test";
import { markdown } from "../formats/markdown.ts";
import { Example, passed, scored, textItems } from "../testing/example.ts";

const [a100, h100] = ["NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3"];

/** An attempt of one agent with each of these GPUs. */
function example(gpus: (string | undefined)[], params: Record<string, unknown> = {}): Example {
  const made = new Example(params);
  for (const [at, held] of gpus.entries()) {
    const axes = { task: "letters", agent: "plain", seed: at + 1 };
    made
      .gives("attempt", axes, { submission: `sha256:${at}` })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
    const member = made.members.find(({ name, axes: own }) => name === "attempt" && own === axes)!;
    if (held !== undefined) member.gpus = held;
  }
  return made;
}

const speeds = { device: a100, tokensPerSecond: 60_000, bytesPerSecond: 1.3e12 };
const calibrated = (made: Example) =>
  made.gives("calibration", {}, { calibration: { formatVersion: 1, ...speeds } });

test("attempts on other GPUs than most are marked with their class", () => {
  const report = example([a100, a100, h100]).report();
  const text = markdown(report);
  assert.match(text, /\| plain \| 1 \|/);
  assert.match(text, /\| plain \| 3◊ \|/);
  assert.ok(text.includes(`- **letters, plain 3**: ◊ ${h100}`), text);
  assert.doesNotMatch(markdown(example([a100, a100]).report()), /◊/);
});

test("the table of hardware has a row for each class, with the speed of the calibrated one", () => {
  const text = markdown(calibrated(example([a100, h100, a100, undefined])).report());
  assert.ok(text.includes(`| ${a100} | 2 | 60000 | 1300.0 | 1.00 |`), text);
  assert.ok(text.includes(`| ${h100} | 1 | – | – | – |`));
  assert.ok(text.includes("| no GPU | 1 | – | – | – |"));
});

test("a cap on GPU memory is a class of its own, with the speed of its device", () => {
  const capped = `${a100} (cooperative cap of 20 GB)`;
  const text = markdown(calibrated(example([a100, a100, capped])).report());
  assert.ok(text.includes(`| ${capped} | 1 | 60000 | 1300.0 | 1.00 |`), text);
  assert.ok(text.includes(`- **letters, plain 3**: ◊ ${capped}`));
});

test("relative compute is that over the reference host, and a class without attempts still has its row", () => {
  const made = example([h100], { referenceTokensPerSecond: 120_000 });
  assert.ok(markdown(calibrated(made).report()).includes(`| ${a100} | 0 | 60000 | 1300.0 | 0.50 |`));
});

test("without GPUs and without a calibration there is no table of hardware", () => {
  assert.doesNotMatch(markdown(example([undefined, undefined]).report()), /Hardware/);
});

test("a failed or unreadable calibration is a gap, and the report has no speed", () => {
  const failed = example([a100]).fails("calibration", {}, "failed", "out of memory").report();
  assert.equal(failed.hardware, undefined);
  assert.match(failed.coverage.gaps.map(({ cause }) => cause).join(), /out of memory/);
  const odd = example([a100]).gives("calibration", {}, { calibration: { formatVersion: 1, device: "x" } });
  assert.match(
    odd
      .report()
      .coverage.gaps.map(({ cause }) => cause)
      .join(),
    /unreadable calibration/,
  );
});
