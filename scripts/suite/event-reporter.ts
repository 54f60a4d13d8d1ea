// A node:test reporter that writes one line of JSON for each test, for run-test-file.ts.
import type { TestEvent } from "node:test/reporters";

export type TestLine = {
  title: string;
  outcome: "passed" | "failed" | "skipped";
  /** Why the test was skipped, or failed without running. */
  reason: string;
};

/** @public: used on a command line. */
export default async function* eventReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { data } = event;
    // a suite counts only if it failed itself; its tests are counted separately
    if (data.details.type === "suite" && (event.type === "test:pass" || byItsTests(event))) continue;
    const unrun = data.skip ?? data.todo;
    const skipped = unrun !== undefined && unrun !== false;
    const ran = event.type === "test:pass" ? "passed" : "failed";
    const line: TestLine = {
      title: data.name,
      ...(skipped ? unrunLine(unrun) : { outcome: ran, reason: "" }),
    };
    yield `${JSON.stringify(line)}\n`;
  }
}

/** A skip without a reason fails: readers must see why a test did not run. */
function unrunLine(reason: string | true): Omit<TestLine, "title"> {
  return typeof reason === "string" && reason !== ""
    ? { outcome: "skipped", reason }
    : { outcome: "failed", reason: "it was skipped without a reason" };
}

function byItsTests(event: TestEvent & { type: "test:fail" }): boolean {
  const error = event.data.details.error as Error & { failureType?: string };
  return error.failureType === "subtestsFailed";
}
