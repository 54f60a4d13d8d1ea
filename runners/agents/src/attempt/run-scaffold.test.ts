import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { Tape, type Taped } from "../resume/tape.ts";
import { remindersOf } from "./run-scaffold.ts";

const reminder = (look: number, text: string): Taped => ({ event: "reminder", look, text });
const answer = exampleEvent("model-call");

/** The reminders of an attempt that continues after `events`. */
function continued(kind: ScaffoldSpec["kind"], used: number, events: Taped[]) {
  const written: object[] = [];
  const tape = new Tape({ events, attachments: undefined, ended: "" });
  const supervision = {
    request: { earlier: { step: 1, tape: events } },
    meter: { usedShare: () => used, leftMs: () => 30 * 60_000 },
    trajectory: { add: (event: object) => void written.push(event) },
  };
  return { tape, written, due: remindersOf(supervision as never, kind, { recorded: undefined, tape }) };
}

test("a reminder that came due during the restart comes at the first new look, and none comes twice", () => {
  const half = "[Notice] 50 % of your budget is used. About 1 h of working time left.";
  const { tape, due } = continued("react", 0.8, [reminder(1, half), answer]);
  assert.deepEqual(due(), [half]);
  assert.equal(tape.answer(answer.by)?.kind, "answered");
  const [restart, late, ...more] = due();
  assert.match(restart!, /The machine was restarted/);
  assert.match(late!, /^\[Notice\] 75 % of your budget/);
  assert.deepEqual([...more, ...due()], []);
  const again = continued("react", 0.6, [reminder(1, half), answer]);
  again.due();
  again.tape.answer(answer.by);
  assert.equal(again.due().length, 1, "only the restart");
});

test("the call that was in flight is asked again with the notice of the restart", () => {
  const { due, written } = continued("mlrb-2024", 0.5, [reminder(1, "Minutes left: 59")]);
  const texts = due();
  assert.match(texts[1]!, /The machine was restarted/);
  assert.deepEqual([texts[0], texts[2]], ["Minutes left: 59", "Minutes left: 30"]);
  assert.equal(written.length, 2);
  assert.deepEqual(due(), ["Minutes left: 30"]);
});

const limited: Taped = { ...exampleEvent("model-try"), by: answer.by, cause: "rate-limit" };

test("a supervisor that died between two tries of a call tells of the restart before the call is tried again", () => {
  const { tape, due, written } = continued("react", 0.1, [answer, limited, limited]);
  assert.deepEqual(due(), []);
  assert.equal(tape.answer(answer.by)?.kind, "answered");
  assert.match(due()[0]!, /The machine was restarted/);
  assert.equal(tape.answer(answer.by), undefined);
  assert.equal(written.length, 1);
});

test("an attempt continues once more after a notice that came between two tries of a call", () => {
  const { tape, due } = continued("react", 0.1, [answer, limited, reminder(2, "restarted"), answer]);
  due();
  tape.answer(answer.by);
  assert.deepEqual(due(), ["restarted"]);
  assert.equal(tape.answer(answer.by)?.kind, "answered");
  assert.equal(due().length, 1);
});
