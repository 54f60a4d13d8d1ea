import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { extract } from "@mlrb/formats/judged/extract";
import { readFormat } from "@mlrb/formats/read-format";

test("the step makes an extract by hand, and names a param that is missing", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "extract-step-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = (name: string) => join(folder, name);
  mkdirSync(path("workspace/files/workspace"), { recursive: true });
  writeFileSync(path("workspace/index.json"), JSON.stringify({ formatVersion: 1, folders: [] }));
  writeFileSync(path("workspace/files/workspace/run.py"), "print('aider')\n");
  writeFileSync(path("official.md"), "You compete.\n");
  writeFileSync(path("prompt.md"), "Train. Your seed is {{seed}}.\n");
  const text = { event: "output", stream: "stdout", text: "aider: Train. Your seed is 48611." };
  const place = { formatVersion: 1, index: 0, previous: "", time: "2026-01-02T00:00:00Z", sinceStartMs: 1 };
  writeFileSync(path("trajectory"), `${JSON.stringify({ ...place, ...text })}\n`);
  const params = {
    preset: { kind: "command", command: ["aider"], title: "Aider, GPT-4o", gateway: null },
    limits: { characters: 10_000, eventCharacters: 1_000 },
    publicNames: null,
    data: "smoke",
  };
  const run = (given: Partial<typeof params>) =>
    spawnSync(
      process.execPath,
      [
        join(import.meta.dirname, "extract.ts"),
        ...["--param", "agent=aider", "--param", `prompt=${path("prompt.md")}`],
        ...Object.entries(given).flatMap(([name, value]) => ["--param", `${name}=${JSON.stringify(value)}`]),
        ...["--input", `trajectory=${path("trajectory")}`, "--input", `workspace=${path("workspace")}`],
        ...["--input", `prompt=${path("official.md")}`, "--output", `extract=${path("extract.json")}`],
      ],
      { encoding: "utf8" },
    );
  const ran = run(params);
  assert.equal(ran.status, 0, ran.stderr);
  const reading = readFormat(extract, readFileSync(path("extract.json"), "utf8"));
  assert.ok(reading.kind === "ok");
  assert.deepEqual(
    reading.value.events.map(({ kind, text }) => `${kind}: ${text}`),
    [
      "prompt: You compete.\n\n\n---\n\nTrain. Your seed is {{seed}}.",
      "result: The attempt writes to stdout:\n[the agent]: Train. Your seed is {{seed}}.",
      `file: "run.py", left in the workspace:\nprint('[the agent]')\n`,
      "measurement: Events with calls that name the benchmark (no name is known): none",
      "measurement: Downloads through the gateway:\nnone on record",
    ],
  );
  const { limits: _, ...without } = params;
  assert.match(run(without).stderr, /params of the extract stage: limits is missing/);
});
