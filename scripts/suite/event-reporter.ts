// A node:test reporter that writes one line of JSON for each test, for run-test-file.ts.
import type { TestEvent } from "node:test/reporters";
import { stripVTControlCharacters } from "node:util";

export type TestLine = {
  title: string;
  outcome: "passed" | "failed" | "skipped";
  /** Why the test was skipped, or how it failed, in one line. */
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
    const ran = (): Omit<TestLine, "title"> =>
      event.type === "test:pass"
        ? { outcome: "passed", reason: "" }
        : { outcome: "failed", reason: reasonOf(event.data.details.error) };
    const line: TestLine = { title: data.name, ...(skipped ? unrunLine(unrun) : ran()) };
    yield `${JSON.stringify(line)}\n`;
  }
}

/** A skip without a reason fails: readers must see why a test did not run. */
function unrunLine(reason: string | true): Omit<TestLine, "title"> {
  return typeof reason === "string" && reason !== ""
    ? { outcome: "skipped", reason }
    : { outcome: "failed", reason: "it was skipped without a reason" };
}

/** Most characters of a reason that are kept of its start and of its end. */
const kept = { start: 500, end: 2500 };

/** The start and the end of the error's message: the end of a program's output often says the cause. */
function reasonOf({ message, cause }: Error): string {
  const text = stripVTControlCharacters(String(cause instanceof Error ? cause.message : (cause ?? message)));
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= kept.start + kept.end) return line;
  return `${line.slice(0, kept.start)} […] ${line.slice(-kept.end)}`;
}

function byItsTests(event: TestEvent & { type: "test:fail" }): boolean {
  const error = event.data.details.error as Error & { failureType?: string };
  return error.failureType === "subtestsFailed";
}
