// A reporter of node:test that writes one line of JSON for each test, for run-test-file.ts.
import type { TestEvent } from "node:test/reporters";

export type TestLine = {
  title: string;
  outcome: "passed" | "failed" | "skipped";
  /** Why it was skipped. Empty when the test gave no reason. */
  reason: string;
};

export default async function* eventReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { data } = event;
    // a suite counts only when it failed by itself: its tests are counted one by one
    if (data.details.type === "suite" && (event.type === "test:pass" || byItsTests(event))) continue;
    const unrun = data.skip ?? data.todo;
    const skipped = unrun !== undefined && unrun !== false;
    const outcome = skipped ? "skipped" : event.type === "test:pass" ? "passed" : "failed";
    const line: TestLine = { title: data.name, outcome, reason: typeof unrun === "string" ? unrun : "" };
    yield `${JSON.stringify(line)}\n`;
  }
}

function byItsTests(event: TestEvent & { type: "test:fail" }): boolean {
  const error = event.data.details.error as Error & { failureType?: string };
  return error.failureType === "subtestsFailed";
}
