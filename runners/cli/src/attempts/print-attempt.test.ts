import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrajectoryLine } from "@mlrb/report/exports/attempt-source";
import { trajectoryLine } from "@mlrb/report/exports/trajectory-lines";
import { printAttempt } from "./print-attempt.ts";

const line = (fields: object, at = 1000): TrajectoryLine =>
  trajectoryLine(0, Buffer.from(JSON.stringify({ formatVersion: 1, sinceStartMs: at, ...fields })));
const output = (text: string, stream = "stdout") => line({ event: "output", stream, text });

async function shown(lines: TrajectoryLine[], tail?: number): Promise<string> {
  let text = "";
  await printAttempt(
    lines,
    (more) => {
      text += more;
    },
    { tail, width: 60, color: false },
  );
  return text;
}

const lines = [
  line({ event: "exec", argv: ["python", "train.py"] }, 37),
  output("step 1, lo"),
  output("a warning\n", "stderr"),
  output("ss 7.6\nstep 2, loss 5.3\n"),
  line({ event: "exec-end", result: { kind: "exited", code: 0 } }, 41_000),
  output("a last word without an end"),
];

test("the log of an attempt is what its programs wrote, in whole lines, with what its supervisor saw between", async () => {
  assert.equal(
    await shown(lines),
    `    37 ms  exec: python train.py
a warning
step 1, loss 7.6
step 2, loss 5.3
     41 s  exec-end: exit 0
a last word without an end
`,
  );
});

test("the last lines of an attempt are those that a whole log ends with, for any number", async () => {
  const whole = await shown(lines);
  for (let tail = 0; tail < 9; tail++) {
    const last = whole
      .split("\n")
      .slice(0, -1)
      .slice(tail === 0 ? 99 : -tail);
    assert.equal(await shown(lines, tail), last.map((one) => `${one}\n`).join(""));
  }
});

test("no text of an agent controls the terminal", async () => {
  const hostile = "\u001b[2J\u001b]0;title\u0007\u202ecod\u009b31m";
  const text = await shown([
    output(`${hostile}\n`),
    line({ event: "exec", argv: [hostile] }),
    line({ event: hostile, more: hostile }),
  ]);
  assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Cf}]/u);
  assert.match(text, /\\u\{1b\}\[2J/, "it is spelt out");
});

test("the states of a progress bar are one line", async () => {
  assert.equal(await shown([output("10 %\r20 %\r"), output("100 %\ndone\n")]), "100 %\ndone\n");
});

test("output of members of a team is joined within each, and each line names its member", async () => {
  const of = (member: string, text: string) => line({ event: "output", stream: "stdout", member, text });
  assert.equal(
    await shown([
      of("lead", "step 1, lo"),
      of("coder\u001b[2J", "a\nb"),
      output("of none\n"),
      of("lead", "ss 7.6\n"),
      line({
        event: "board",
        member: "lead",
        to: "all",
        purpose: "hand-over",
        text: "go\u001b[31m on\nfaked",
      }),
      line({ event: "member-wait", member: "lead", why: "provider", durationMs: 5000, frozen: true }),
    ]),
    `[coder] a
of none
[lead] step 1, loss 7.6
    1.0 s  [lead] board: to all (hand-over): go on faked
    1.0 s  [lead] member-wait: 5.0 s for a provider; its
           processes were frozen, and the deadline did not
           move
[coder] b
`,
  );
});
