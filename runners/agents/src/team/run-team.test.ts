import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ledgerFile } from "@mlrb/formats/attempt/ledger";
import { trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { checkFormat } from "@mlrb/formats/read-format";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { boardOf, calls, endsOf, submits, teamLab } from "../testing/team-lab.ts";

/** Sends a message from a shell script. */
const send = (name: string, message: object) =>
  `printf '%s' '${JSON.stringify(message)}' > "$MLRB_BOARD/outbox/$MLRB_MEMBER/.new" && mv "$MLRB_BOARD/outbox/$MLRB_MEMBER/.new" "$MLRB_BOARD/outbox/$MLRB_MEMBER/${name}.json"\n`;
const awaits = (number: number) =>
  `until [ -e "$MLRB_BOARD/inbox/$MLRB_MEMBER/00000${number}.json" ]; do sleep 0.02; done\n`;

test("a model and a program work together: messages, a hand-over, one submission, one ledger", async (t) => {
  const lab = await teamLab(t, {
    lead: {
      role: "You plan.",
      answers: [
        calls(["send_message", { to: "coder", text: "use 3 layers", purpose: "hand-over" }]),
        calls(["read_messages", { wait_seconds: 60 }]),
        calls(["shell", { command: "cat result; echo lead >> submission/model" }]),
        submits,
      ],
    },
    coder: {
      after: ["lead"],
      script: `${awaits(1)}cat "$MLRB_BOARD/inbox/coder/000001.json"; echo trained > result; ${send("done", { to: "lead", text: "trained: result" })}`,
    },
  });
  const { events, ledger, submitted, files } = await lab.run();
  assert.deepEqual(boardOf(events), [
    "lead to coder, hand-over: use 3 layers",
    "coder to lead, message: trained: result",
  ]);
  assert.deepEqual(endsOf(events), { coder: "exited", lead: "submitted" });
  assert.deepEqual([ledger.ended, submitted], ["submitted", ["model"]]);
  const read = events.find((event) => event.event === "tool-result" && event.name === "read_messages");
  assert.equal(
    read?.event === "tool-result" && read.text,
    "Messages 1-1 of 1.\n\n[1] from coder:\ntrained: result",
  );
  const output = events.find((event) => event.event === "output");
  assert.equal(output?.member, "coder");
  assert.match(JSON.stringify(output), /use 3 layers/);
  const [lead, coder] = ledger.members!;
  assert.deepEqual(lead, {
    ...{ name: "lead", agent: "test-lead", kind: "llm", calls: 4, inputTokens: 400, outputTokens: 40 },
    ...{ dollars: 0, waitedMs: 0, messages: 1, messageCharacters: 12, end: "submitted" },
  });
  assert.deepEqual([coder!.calls, coder!.messages, coder!.end], [0, 1, "exited 0"]);
  assert.deepEqual(ledger.talking, { calls: 2, inputTokens: 200, outputTokens: 20, dollars: 0 });
  assert.equal(ledger.tokens, 440);
  for (const event of events) assert.equal(checkFormat(trajectoryEvent, event).kind, "ok");
  assert.equal(
    checkFormat(ledgerFile, JSON.parse(readFileSync(join(files, "ledger.json"), "utf8"))).kind,
    "ok",
  );
  assert.equal((await verifyTrajectory(join(files, "trajectory.jsonl"), ledger.trajectory)).kind, "intact");
  const started = events.filter(({ event }) => event === "member-start" || event === "board");
  assert.deepEqual(
    started.map(({ event, member }) => `${event} ${member}`),
    ["member-start lead", "board lead", "member-start coder", "board coder"],
  );
  const task = lab.seen[0]!.messages.find(({ role }) => role === "user")!.text;
  assert.match(task, /You are lead, in a team of 2/);
  assert.match(task, /- lead: You plan\./);
});
