import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import fc from "fast-check";
import { openTrajectory } from "./record/trajectory.ts";

const folder = mkdtempSync(join(tmpdir(), "trajectory-"));
after(() => rmSync(folder, { recursive: true }));
const original = join(folder, "original.jsonl");
const trajectory = openTrajectory(original, { now: () => ({ wall: 1_700_000_000_000, sinceStart: 5 }) });
trajectory.add(exampleEvent("start", { task: "t" }));
for (const text of ["one", "two", "three"]) trajectory.add({ event: "output", stream: "stdout", text });
trajectory.add(exampleEvent("end", { ended: "finished" }));
const seal = trajectory.seal();
trajectory.close();
const lines = readFileSync(original, "utf8").trimEnd().split("\n");

async function check(content: string | Uint8Array, withSeal = true) {
  const path = join(folder, "changed.jsonl");
  writeFileSync(path, content);
  return await verifyTrajectory(path, withSeal ? seal : undefined);
}
const text = (some: string[]) => `${some.join("\n")}\n`;

test("an unchanged trajectory is intact and complete", async () => {
  assert.deepEqual(await check(text(lines)), { kind: "intact", lines: 5, head: seal.head, complete: true });
});

test("a changed line is reported at the next line, which no longer follows from it", async () => {
  const changed = lines.with(2, lines[2]!.replace("two", "tvo"));
  assert.deepEqual(await check(text(changed)), {
    kind: "broken",
    line: 4,
    reason: "does not follow from the line before it",
  });
});

test("a lost, doubled, moved or inserted line is reported with its place", async () => {
  for (const changed of [
    lines.toSpliced(2, 1),
    lines.toSpliced(2, 0, lines[1]!),
    lines.with(2, lines[3]!).with(3, lines[2]!),
  ]) {
    const found = await check(text(changed));
    assert.deepEqual([found.kind, found.kind === "broken" && found.line], ["broken", 3]);
  }
});

test("the ledger's seal reveals a changed last line or a cut end", async () => {
  const last = lines.with(4, lines[4]!.replace("finished", "time-limit"));
  assert.deepEqual(await check(text(last)), {
    kind: "broken",
    line: 5,
    reason: "the last line is not the one that the ledger sealed",
  });
  assert.deepEqual(await check(text(lines.slice(0, 3))), {
    kind: "broken",
    line: 4,
    reason: "the ledger counts 5 lines, here are 3",
  });
});

test("without a seal a cut end shows as an incomplete trajectory", async () => {
  const found = await check(text(lines.slice(0, 3)), false);
  assert.deepEqual([found.kind, found.kind === "intact" && found.complete], ["intact", false]);
});

test("foreign files are reported as broken, without a crash", async () => {
  const foreign: [string | Uint8Array, number, RegExp][] = [
    ["", 1, /no lines/],
    ["\n", 1, /not JSON/],
    ["[]\n", 1, /not a JSON object/],
    [`${lines[0]}\nnull\n`, 2, /not a JSON object/],
    [text(lines).slice(0, -20), 5, /cut off/],
    [Buffer.from([0xff, 0x0a]), 1, /not JSON/],
    ["x".repeat(5 << 20), 1, /longer than/],
    ['{"formatVersion":2}\n', 1, /another format/],
    [`{"formatVersion":1,"a":${"[".repeat(64)}${"]".repeat(64)}}\n`, 1, /nests too deep/],
  ];
  for (const [content, line, reason] of foreign) {
    const found = await check(content);
    assert.equal(found.kind, "broken");
    if (found.kind !== "broken") continue;
    assert.equal(found.line, line);
    assert.match(found.reason, reason);
  }
  assert.deepEqual(await verifyTrajectory(join(folder, "absent")), {
    kind: "broken",
    line: 1,
    reason: "cannot be read: ENOENT",
  });
});

test("no single changed byte goes unnoticed", async () => {
  const whole = Buffer.from(text(lines));
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const changed = Buffer.from(whole);
      changed[at]! ^= by;
      assert.equal((await check(changed)).kind, "broken");
    }),
    { numRuns: 300 },
  );
});
