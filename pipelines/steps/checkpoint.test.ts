import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { float32, safetensorsBytes } from "@mlrb/kit/safetensors/testing/safetensors-bytes";

const root = mkdtempSync(join(tmpdir(), "checkpoint-step-"));
after(() => rmSync(root, { recursive: true }));

const model = safetensorsBytes({ w: float32([2, 2], [1, 2, 3, 4]) });
const whole = { "config.json": "{}", "tokenizer.json": "{}", "model.safetensors": model };
type Files = Record<string, string | Uint8Array>;
type Kept = { sinceStartMs: number; files: Files; digest?: string };

/** Runs the step at `checkpoint`, for an attempt with a budget of 1 s that ended after `workingMs` with `final`. */
async function at(
  checkpoint: string,
  {
    kept = [],
    final = whole,
    workingMs = 1000,
    change = () => {},
  }: {
    kept?: Kept[];
    final?: Files;
    workingMs?: number;
    change?: (folder: string) => void;
  },
) {
  const folder = mkdtempSync(join(root, "m-"));
  const write = (into: string, files: Files) => {
    mkdirSync(join(folder, into), { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, into, name)), { recursive: true });
      writeFileSync(join(folder, into, name), content);
    }
  };
  write("submission", final);
  const names = kept.map((_, index) => `000${index + 1}`);
  for (const [index, { files }] of kept.entries()) write(`snapshots/${names[index]}`, files);
  const snapshots = kept.map(({ sinceStartMs, digest = String(sinceStartMs) }, index) => ({
    name: names[index],
    sinceStartMs,
    digest,
    files: 1,
    bytes: 1,
  }));
  write("snapshots", {
    "index.json": JSON.stringify({ formatVersion: 1, budgetMs: 1000, snapshots, dropped: [] }),
  });
  const submission = { ...exampleLedger().submission, digest: "final" };
  const ledger = exampleLedger({ wallMs: workingMs, workingMs, submission });
  write(".", {
    ledger: JSON.stringify(ledger),
    admission: JSON.stringify({
      formatVersion: 1,
      admitted: false,
      reasons: [{ code: "told", detail: "validate" }],
    }),
  });
  for (const name of ["contents", "submission"]) mkdirSync(join(folder, "out", name), { recursive: true });
  change(folder);
  const inputs = ["submission", "snapshots", "ledger", "admission"];
  const args = [
    ...["--axis", `checkpoint=${checkpoint}`],
    ...inputs.flatMap((name) => ["--input", `${name}=${join(folder, name)}`]),
    ...["contents", "submission", "admission", "checkpoint"].flatMap((name) => [
      "--output",
      `${name}=${join(folder, "out", name)}`,
    ]),
  ];
  await promisify(execFile)(process.execPath, ["pipelines/steps/checkpoint.ts", ...args]);
  const read = (name: string) => JSON.parse(readFileSync(join(folder, "out", name), "utf8"));
  return {
    files: readdirSync(join(folder, "out/contents")).sort(),
    contents: join(folder, "out/contents"),
    loaded: readdirSync(join(folder, "out/submission")).sort(),
    admission: read("admission"),
    checkpoint: read("checkpoint"),
    admissionBytes: readFileSync(join(folder, "out/admission"), "utf8"),
  };
}

test("the checkpoint is the last snapshot before it, whole, with its own admission", async () => {
  const kept = [
    { sinceStartMs: 100, files: { "notes/a.txt": "x" } },
    { sinceStartMs: 400, files: { ...whole, "notes.txt": "x" } },
  ];
  const half = await at("50%", { kept, final: {} });
  assert.deepEqual(half.files, [...Object.keys(whole), "notes.txt"].sort());
  assert.deepEqual(half.loaded, Object.keys(whole).sort(), "scorers get only what they load");
  const inode = (folder: string) => statSync(join(folder, "model.safetensors")).ino;
  assert.equal(inode(join(half.contents, "../submission")), inode(half.contents), "weights are stored once");
  const { ignored, ...admission } = half.admission;
  assert.deepEqual(admission, { formatVersion: 1, admitted: true, reasons: [] });
  assert.deepEqual(ignored, { count: 1, first: [{ path: "notes.txt", why: "a file" }] });
  assert.deepEqual(half.checkpoint, {
    formatVersion: 1,
    stood: { kind: "snapshot", name: "0002" },
    admitted: true,
    reasons: [],
  });
  const before = await at("25%", { kept });
  assert.equal(readFileSync(join(before.contents, "notes/a.txt"), "utf8"), "x");
  assert.equal(before.checkpoint.admitted, false);
  assert.deepEqual(before.loaded, [], "what is not admitted is not loaded");
});

test("half a model is a checkpoint that is not admitted", async () => {
  const torn = { ...whole, "model.safetensors": model.subarray(0, model.length - 3) };
  const { checkpoint } = await at("50%", { kept: [{ sinceStartMs: 400, files: torn }] });
  assert.equal(checkpoint.admitted, false);
  assert.match(checkpoint.reasons[0].detail, /model\.safetensors.*truncated/);
});

test("a checkpoint before the first snapshot is empty", async () => {
  const { files, checkpoint } = await at("50%", { kept: [{ sinceStartMs: 501, files: whole }] });
  assert.deepEqual(files, []);
  assert.deepEqual(
    [checkpoint.stood.kind, checkpoint.admitted, checkpoint.reasons[0].code],
    ["none", false, "empty"],
  );
});

test("a checkpoint after the attempt's end is the submission, with the submission's admission", async () => {
  const { files, admissionBytes, checkpoint } = await at("75%", {
    kept: [{ sinceStartMs: 100, files: {} }],
    workingMs: 700,
  });
  assert.deepEqual(files, Object.keys(whole).sort());
  assert.deepEqual(checkpoint.stood, { kind: "final" });
  assert.equal(JSON.parse(admissionBytes).reasons[0].detail, "validate");
  const equal = await at("75%", { kept: [{ sinceStartMs: 100, files: whole, digest: "final" }] });
  assert.equal(equal.admissionBytes, admissionBytes, "a snapshot that equals it shares its scores");
});

test("a checkpoint that is not a share, a missing ledger and snapshots of another format fail the stage, with the cause", async () => {
  await assert.rejects(
    at("100%", {}),
    /axis checkpoint has the value "100%".*not a share[\s\S]*help: write e\.g\. 25%/,
  );
  await assert.rejects(
    at("50%", {
      change: (folder) =>
        writeFileSync(join(folder, "ledger"), '{"formatVersion":1,"none":"there was no attempt"}'),
    }),
    /there was no attempt, so the time of the checkpoint is unknown/,
  );
  const index = (text: string) => (folder: string) =>
    writeFileSync(join(folder, "snapshots/index.json"), text);
  await assert.rejects(
    at("50%", { change: index('{"formatVersion":2}') }),
    /the index of the snapshots: formatVersion is 2, not 1/,
  );
  const dropped = {
    formatVersion: 1,
    budgetMs: 1000,
    snapshots: [],
    dropped: [{ sinceStartMs: 9, digest: "gone" }],
  };
  await assert.rejects(
    at("50%", { change: index(JSON.stringify(dropped)) }),
    /snapshot at 50% was not kept: the snapshots exceeded their space/,
  );
});

test("a checkpoint that admission throws on is rejected with the error", async () => {
  const index = JSON.stringify({ weight_map: { w: `${"a".repeat(300)}.safetensors` } });
  const { files, checkpoint } = await at("50%", {
    kept: [{ sinceStartMs: 100, files: { "config.json": "{}", "model.safetensors.index.json": index } }],
  });
  assert.deepEqual(checkpoint.stood, { kind: "snapshot", name: "0001" });
  assert.equal(checkpoint.admitted, false);
  assert.match(checkpoint.reasons[0].detail, /a known-good one can: .*ENAMETOOLONG/);
  assert.deepEqual(files, []);
});
