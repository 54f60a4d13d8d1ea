// A team whose supervisor died after any line of the trajectory must continue as if nothing had happened.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { leftBehind } from "@mlrb/kit/attempts/left-behind";
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
  for (const cut of drawn(cuts, process.env.MLRB_TEST_ALL_LINES ? cuts.length : 5)) {
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

test("a team continues from a restore point: what came after it is left behind, and is sent again", async (t) => {
  const lab = await teamLab(t, {
    lead: {
      answers: [
        calls(["send_message", { to: "coder", text: "before", purpose: "hand-over" }]),
        calls(["shell", { command: "sleep 4" }]),
        calls(["send_message", { to: "coder", text: "after" }]),
        submits,
      ],
    },
    coder: {
      after: ["lead"],
      script:
        'echo "${MLRB_RESTARTS:-0}" >> "$HOME/starts"; cp "$HOME/starts" submission/starts\nuntil [ -e "$MLRB_BOARD/inbox/coder/000002.json" ]; do sleep 0.02; done\ncat "$MLRB_BOARD/inbox/coder/"*.json > submission/got\n',
    },
  });
  const restorePoints = lab.at("points");
  mkdirSync(restorePoints);
  const whole = await lab.run({ restorePoints, restorePauseMs: 200 });
  const points = whole.events.filter((event) => event.event === "restore-point");
  const sent = whole.events.findLast(({ event }) => event === "board")!.index;
  const point = points.findLast((event) => event.event === "restore-point" && event.after < sent);
  assert.ok(point?.event === "restore-point", "one was taken between the messages");
  // the newest that there is, as after the death of the host at that moment
  for (const name of readdirSync(restorePoints))
    if (name.endsWith(".json") && name > `${point.name}.json`) rmSync(join(restorePoints, name));
  const files = lab.at("resumed");
  mkdirSync(files);
  cpSync(join(whole.files, "trajectory.jsonl"), join(files, "trajectory.jsonl"));
  const cut = whole.events.findIndex((event) => event.event === "member-end");
  const lines = readFileSync(join(files, "trajectory.jsonl"), "utf8").split("\n");
  writeFileSync(join(files, "trajectory.jsonl"), `${lines.slice(0, cut).join("\n")}\n`);
  const trajectory = join(files, "trajectory.jsonl");
  const earlier = await readEarlier({ trajectory, spending: join(files, "spending.jsonl"), restorePoints });
  assert.ok(typeof earlier !== "string", String(earlier));
  const resumed = await lab.run({ earlier, restorePoints }, { files });
  const isLeftBehind = await leftBehind(trajectory);
  const counted = resumed.events.filter(({ index }) => !isLeftBehind(index));
  assert.deepEqual(boardOf(counted), ["lead to coder, hand-over: before", "lead to coder, message: after"]);
  const kept = boardOf(earlier.counted).length;
  assert.ok(kept < 2 && boardOf(resumed.events).length === 4 - kept, "what was left behind was sent again");
  const read = (name: string) => readFileSync(join(files, "submission", name), "utf8");
  assert.deepEqual(
    read("got")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).text),
    ["before", "after"],
  );
  const started = earlier.counted.some(({ event, member }) => event === "member-start" && member === "coder");
  assert.ok(!started || read("starts").endsWith("1\n"), "a program that had started learns of the restart");
});
