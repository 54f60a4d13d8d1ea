import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv } from "ajv";
import { checkFormat } from "../read-format.ts";
import { eventNames, exampleEvent } from "../testing/example-event.ts";
import { trajectoryEvent, trajectoryLine } from "./trajectory.ts";

const published = new Ajv({ strict: false }).compile(trajectoryLine);
const place = { formatVersion: 1, index: 0, previous: "0".repeat(64), time: "", sinceStartMs: 0 };

for (const name of eventNames)
  test(`the published schema and readers agree on ${name}: whole, with more fields, and without any one`, () => {
    const event: Record<string, unknown> = exampleEvent(name);
    const agree = (value: Record<string, unknown>, expected: boolean) => {
      assert.equal(checkFormat(trajectoryEvent, value).kind === "ok", expected);
      assert.equal(published({ ...place, ...value }), expected);
    };
    agree({ ...event, later: true }, true);
    for (const field of Object.keys(event)) {
      const { [field]: _, ...rest } = event;
      agree(rest, false);
    }
  });

test("an event of a later version is refused", () => {
  const reading = checkFormat(trajectoryEvent, { event: "later" });
  assert.match(
    reading.kind === "unreadable" ? reading.cause : "",
    /^event is "later", not one of start, .* end$/,
  );
});

test("every line of the kept records is an event", () => {
  const records = join(import.meta.dirname, "../../../../tests/fixtures/records/golden/records");
  const lines = readdirSync(records).flatMap((record) =>
    readFileSync(join(records, record, "trajectory.jsonl"), "utf8")
      .trimEnd()
      .split("\n"),
  );
  assert.ok(lines.length > 10);
  for (const line of lines) {
    assert.equal(checkFormat(trajectoryEvent, JSON.parse(line)).kind, "ok", line);
    assert.ok(published(JSON.parse(line)), line);
  }
});
