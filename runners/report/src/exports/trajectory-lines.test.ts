import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { everyEvent, exampleLines } from "../testing/attempt-example.ts";
import { trajectoryLines } from "./trajectory-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "mlrb-lines-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function read(bytes: string | Buffer) {
  const path = join(folder, "trajectory.jsonl");
  writeFileSync(path, bytes);
  return [...trajectoryLines(path)];
}

test("every event that a supervisor writes is read, with its time", () => {
  const lines = read([...exampleLines(everyEvent(new Map()))].join(""));
  assert.equal(lines.length, 30);
  assert.ok(
    lines.every((line, at) => line.kind === "event" && line.index === at && line.sinceStartMs === at * 1000),
  );
});

test("a line that crosses two reads is returned whole", () => {
  const texts = Array.from({ length: 40 }, (_, at) => `${at}é`.repeat(20_000));
  const lines = read(
    [...exampleLines(texts.map((text) => ({ event: "output", stream: "stdout", text })))].join(""),
  );
  assert.deepEqual(
    lines.map((line) => (line.kind === "event" && line.event.event === "output" ? line.event.text : "")),
    texts,
  );
});

test("an event with a missing or mistyped field is passed on as unknown", () => {
  const [line] = read(
    `${JSON.stringify({ formatVersion: 1, index: 0, time: "yesterday", sinceStartMs: "soon", event: "tool-result", outcome: "great" })}\n`,
  );
  assert.deepEqual(line, {
    kind: "other",
    index: 0,
    time: null,
    sinceStartMs: null,
    name: "tool-result",
    fields: { event: "tool-result", outcome: "great" },
  });
});

test("the first bad line ends the reading with the reason", () => {
  const good = '{"formatVersion":1,"event":"end"}\n';
  const after = (bad: string | Buffer) => {
    const lines = read(Buffer.concat([Buffer.from(good), Buffer.from(bad), Buffer.from(`\n${good}`)]));
    assert.equal(lines.length, 2);
    const [, last] = lines;
    return last?.kind === "broken" ? last.why : "";
  };
  assert.equal(after("{"), "line 2: a line is not JSON");
  assert.equal(after("[1]"), "line 2: a line is not a JSON object");
  assert.equal(after(Buffer.from([0x22, 0xff, 0x22])), "line 2: a line is not JSON");
  assert.equal(
    after(`{"formatVersion":1,"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`),
    "line 2: a line nests deeper than 64 levels",
  );
  assert.match(after('{"formatVersion":2}'), /^line 2: a line has another format/);
  assert.equal(after(`"${"x".repeat(5 << 20)}"`), "line 2: a line is longer than 4 MiB");
  assert.deepEqual(read(""), [{ kind: "broken", index: 0, why: "line 1: it is empty" }]);
  assert.deepEqual(
    [...trajectoryLines(join(folder, "none"))],
    [{ kind: "broken", index: 0, why: "it cannot be read (ENOENT)" }],
  );
});
