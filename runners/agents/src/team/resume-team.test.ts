// A team whose supervisor died after any line of the trajectory must continue as if nothing had happened.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { drawn } from "../../../../tests/support/test-seed.ts";
import { readEarlier } from "../resume/earlier-attempt.ts";
import { boardOf, calls, endsOf, eventsOf, submits, type TeamLab, teamLab } from "../testing/team-lab.ts";

/** Every message follows from the one before, so that the order of the board is the same in every run. */
const conversation = (t: TestContext) =>
  teamLab(t, {
    lead: {
      role: "You lead.",
      answers: [
        calls(["note", { text: "plan" }], ["write_file", { path: "plan", text: "plan" }]),
        calls(
          ["send_message", { to: "coder", text: "use plan" }],
          ["send_message", { to: "all", text: "begin", purpose: "hand-over" }],
        ),
        calls(["read_messages", { wait_seconds: 60 }]),
        calls(["send_message", { to: "coder", text: "thanks" }]),
        submits,
      ],
    },
    coder: {
      after: ["lead"],
      answers: [
        calls(["read_messages", {}]),
        calls(["write_file", { path: "submission/model", text: "m" }], ["note", { text: "done" }]),
        calls(["send_message", { to: "lead", text: "trained" }]),
        calls(["read_messages", { wait_seconds: 60 }]),
        submits,
      ],
    },
    printer: {
      after: ["lead"],
      script:
        'until [ -e "$MLRB_BOARD/inbox/printer/000001.json" ]; do sleep 0.02; done\ncat "$MLRB_BOARD/inbox/printer/"*.json > submission/printed\n',
    },
  });

/** What each model read at last, without the notice of the restart and what the clock says. */
function lastRequests(lab: TeamLab, from: number) {
  const last = new Map<string, string[]>();
  for (const { model, messages } of lab.seen.slice(from))
    last.set(
      model,
      messages
        .filter(({ text }) => !/^\[Notice\] The machine was restarted/.test(text))
        .map(({ role, text, toolCalls = [] }) =>
          JSON.stringify([role, text.slice(0, 300), toolCalls.map(({ name, input }) => [name, input])]),
        ),
    );
  return last;
}

const answeredBy = (events: TrajectoryEvent[], name: string) =>
  events.filter((event) => event.event === "model-call" && event.member === name).length;

test("a team continues after any line: no answered call is asked again, the board and the conversations are equal", async (t) => {
  const lab = await conversation(t);
  const whole = await lab.run();
  assert.equal(whole.ledger.ended, "submitted");
  const board = boardOf(whole.events);
  assert.equal(board.length, 4);
  const requests = lastRequests(lab, 0);
  const asked = lab.seen.length;
  const lines = readFileSync(join(whole.files, "trajectory.jsonl"), "utf8").trimEnd().split("\n");
  const [sandbox] = readdirSync(join(whole.files, "work"));
  let runs = 0;
  const cuts = lines.slice(0, -1).map((_, index) => index + 1);
  for (const cut of drawn(cuts, process.env.MLRB_TEST_ALL_LINES ? cuts.length : 8)) {
    await t.test(`after line ${cut}: ${JSON.parse(lines[cut - 1]!).event}`, async () => {
      const files = lab.at(`resumed-${++runs}`);
      mkdirSync(files);
      for (const name of ["attachments", "work"])
        cpSync(join(whole.files, name), join(files, name), { recursive: true });
      writeFileSync(join(files, "trajectory.jsonl"), `${lines.slice(0, cut).join("\n")}\n`);
      const before = eventsOf(join(files, "trajectory.jsonl"));
      const from = lab.seen.length;
      const earlier = await readEarlier({
        trajectory: join(files, "trajectory.jsonl"),
        spending: join(files, "spending.jsonl"),
      });
      assert.ok(typeof earlier !== "string", String(earlier));
      const resumed = await lab.run({ earlier }, { files, sandbox: join(files, "work", sandbox!) });
      assert.deepEqual(boardOf(resumed.events), board);
      assert.deepEqual(endsOf(resumed.events), endsOf(whole.events));
      assert.equal(resumed.ledger.ended, "submitted");
      for (const name of ["lead", "coder"]) {
        assert.equal(answeredBy(resumed.events, name), answeredBy(whole.events, name), `calls of ${name}`);
        const last = lastRequests(lab, from).get(name);
        if (last) assert.deepEqual(last, requests.get(name));
      }
      const answered = answeredBy(before, "lead") + answeredBy(before, "coder");
      assert.equal(lab.seen.length - from, asked - answered, "no call that was answered is asked again");
      assert.deepEqual(
        resumed.ledger.members!.map(({ messages, calls }) => [messages, calls]),
        whole.ledger.members!.map(({ messages, calls }) => [messages, calls]),
      );
      const numbers = resumed.events.flatMap((event) => (event.event === "model-call" ? [event.call] : []));
      assert.equal(new Set(numbers).size, numbers.length, "no number of a call is used twice");
    });
  }
});
