import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { Extract } from "@mlrb/formats/judged/extract";
import type { Reading } from "@mlrb/formats/read-format";
import { foreignTrajectories } from "./foreign-trajectories.ts";

/** The whole file as one event; a file that begins with ! cannot be read. */
async function read(path: string): Promise<Reading<Extract>> {
  const text = readFileSync(path, "utf8");
  if (text.startsWith("!")) return { kind: "unreadable", cause: "no trajectory" };
  const events = [{ number: 1, kind: "message" as const, text }];
  return { kind: "ok", value: { formatVersion: 1, events, leftOut: { events: 2, characters: 30 } } };
}

function folder(files: Record<string, string>) {
  const path = mkdtempSync(join(tmpdir(), "foreign-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

const labels = (labels: Record<string, Record<string, string>>, rubric = "leaks") =>
  JSON.stringify({ formatVersion: 1, rubric, labelledBy: "Ada", labels });

test("each file is a trajectory by its name, with its labels and what was left out of it", async () => {
  using made = folder({
    "a.json": "hello",
    constructor: "odd",
    "logs/b.json": "bye",
    "labels.json": labels({ "a.json": { q: "yes" } }),
  });
  const result = await foreignTrajectories(made.path, "leaks", read);
  const leftOut = { events: 2, characters: 30 };
  const event = (text: string) => [{ kind: "message", text }];
  assert.deepEqual(result, {
    kind: "read",
    file: {
      ...{ formatVersion: 1, rubric: "leaks", labelledBy: "Ada" },
      trajectories: [
        { id: "a.json", heldOut: true, events: event("hello"), leftOut, labels: { q: "yes" } },
        { id: "constructor", heldOut: true, events: event("odd"), leftOut, labels: {} },
        { id: "logs/b.json", heldOut: true, events: event("bye"), leftOut, labels: {} },
      ],
    },
  });
});

test("labels for another rubric are none for this one", async () => {
  using made = folder({ "a.json": "hello", "labels.json": labels({ "a.json": { q: "yes" } }, "other") });
  const result = await foreignTrajectories(made.path, "leaks", read);
  assert(result.kind === "read");
  assert.deepEqual([result.file.labelledBy, result.file.trajectories[0]!.labels], ["not labelled", {}]);
});

test("unreadable files, and labels of files that are not there, are all named", async () => {
  using made = folder({ "a.json": "!", "b.json": "!", "labels.json": labels({ "c.json": { q: "yes" } }) });
  assert.deepEqual(await foreignTrajectories(made.path, "leaks", read), {
    kind: "unusable",
    causes: ["labels.json: there is no file c.json", "a.json: no trajectory", "b.json: no trajectory"],
  });
  using broken = folder({ "a.json": "hello", "labels.json": "{}" });
  const result = await foreignTrajectories(broken.path, "leaks", read);
  assert(result.kind === "unusable");
  assert.match(result.causes[0]!, /^labels\.json: /);
});
