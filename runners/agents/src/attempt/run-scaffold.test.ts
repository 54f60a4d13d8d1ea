import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { Tape, type Taped } from "../resume/tape.ts";
import type { Numbered } from "../waiting/interventions.ts";
import { remindersOf } from "./run-scaffold.ts";

const reminder = (look: number, text: string): Taped => ({ event: "reminder", look, text });
const answer = exampleEvent("model-call");

/** The reminders of an attempt that continues after `events`. */
function continued(
  kind: ScaffoldSpec["kind"],
  used: number,
  events: Taped[],
  interventions: Numbered[] = [],
) {
  const written: object[] = [];
  const tape = new Tape({ events, attachments: undefined });
  const supervision = {
    request: { earlier: { step: 1, tape: events, interventions } },
    meter: { usedShare: () => used, leftMs: () => 30 * 60_000 },
    interventions: { all: () => interventions },
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

const extension = (number: number): Numbered => ({
  kind: "extend",
  ...{ number, by: "A. Lee", addedMs: 7_200_000, addedDollars: 5 },
});

/** The reminders of an attempt without a restart; a test adds interventions and sets the share that is used. */
function live() {
  const interventions: Numbered[] = [];
  const written: object[] = [];
  const state = { used: 0 };
  const supervision = {
    request: {},
    meter: { usedShare: () => state.used, leftMs: () => 30 * 60_000 },
    interventions: { all: () => interventions },
    trajectory: { add: (event: object) => void written.push(event) },
  };
  const due = remindersOf(supervision as never, "react", { recorded: undefined, tape: undefined });
  return { state, interventions, written, due };
}

test("what a person added comes once, before the notices of the budget, which begin again", () => {
  const { state, interventions, written, due } = live();
  state.used = 0.98;
  assert.match(due()[0]!, /97 %/);
  interventions.push(extension(1));
  state.used = 0.6;
  assert.deepEqual(due(), [
    "[Notice] A person extended your budget by 2 hours of working time and 5 dollars for model calls. About 30 minutes of working time left.",
    "[Notice] 50 % of your budget is used. About 30 minutes of working time left. Make sure that submission/ holds a complete, valid submission by now.",
  ]);
  assert.deepEqual(due(), []);
  state.used = 0.98;
  assert.match(due()[0]!, /97 %/);
  assert.deepEqual(
    written.map((event) => (event as { intervention?: number }).intervention),
    [undefined, 1, undefined, undefined],
  );
});

test("after a restart an agent is told of the extensions of which it was not told, and of no other", () => {
  const read: Taped = { ...(reminder(1, "A person extended …") as object), intervention: 1 } as Taped;
  const { tape, due } = continued("react", 0.1, [read, answer], [extension(1), extension(2)]);
  assert.deepEqual(due(), ["A person extended …"]);
  tape.answer(answer.by);
  const [restart, ...more] = due();
  assert.match(restart!, /The machine was restarted/);
  assert.equal(more.length, 1);
  assert.match(more[0]!, /^\[Notice\] A person extended your budget by 2 hours/);
  assert.deepEqual(due(), []);
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
