// The steps that judge a submitted program in place of a model: validate-program.ts and moment-program.ts.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { readJson, writeJson } from "@mlrb/kit/json-file";

const repository = resolve(import.meta.dirname, "../..");
const root = mkdtempSync(join(tmpdir(), "mlrb-program-steps-"));
after(() => rmSync(root, { recursive: true }));

type Files = Record<string, string>;
const program = { "main.py": "print(1)\n", "weights/a.bin": "w" };

function write(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

function step(name: string, at: string, inputs: string[], outputs: string[], more: string[] = []) {
  for (const output of outputs)
    if (!output.includes(".")) mkdirSync(join(at, "out", output), { recursive: true });
  const bare = (file: string) => file.replace(/\.json$/, "");
  const ran = spawnSync(
    process.execPath,
    [
      join(import.meta.dirname, name),
      ...more,
      ...inputs.flatMap((input) => ["--input", `${bare(input)}=${join(at, input)}`]),
      ...outputs.flatMap((output) => ["--output", `${bare(output)}=${join(at, "out", output)}`]),
    ],
    { cwd: repository, encoding: "utf8" },
  );
  assert.equal(ran.status, 0, ran.stderr);
  return (file: string) => readJson(join(at, "out", file)) as Record<string, unknown>;
}

function validated(files: Files, submission = {}, at = mkdtempSync(join(root, "v-"))) {
  write(join(at, "submission"), files);
  const ledger = exampleLedger();
  writeJson(join(at, "ledger.json"), { ...ledger, submission: { ...ledger.submission, ...submission } });
  mkdirSync(join(at, "out"));
  const read = step(
    "validate-program.ts",
    at,
    ["submission", "ledger.json"],
    ["admission.json", "fingerprint.json", "submission"],
  );
  return {
    admission: read("admission.json"),
    fingerprint: read("fingerprint.json"),
    clean: join(at, "out/submission"),
  };
}

test("a program is admitted and copied, and none of its weights is compared", () => {
  const { admission, fingerprint, clean } = validated(program);
  assert.equal(admission.admitted, true);
  assert.equal(readFileSync(join(clean, "program/weights/a.bin"), "utf8"), "w");
  assert.deepEqual(fingerprint.tensors, []);
});

test("a folder without main.py is refused with what the supervisor left out, and nothing is copied", () => {
  const { admission, clean } = validated(
    { "model.py": "" },
    { leftOut: [{ path: "main.py", why: "a symbolic link" }] },
  );
  assert.equal(admission.admitted, false);
  assert.deepEqual(admission.reasons, [
    { code: "no-program", detail: "main.py is not there, or no plain file" },
    {
      code: "left-out",
      detail: '"main.py": a symbolic link; links are not followed: copy what it points to, with cp -L',
    },
  ]);
  assert.ok(!existsSync(join(clean, "program")));
});

test("a checkpoint is the last snapshot before the moment, admitted as a program", () => {
  const at = mkdtempSync(join(root, "m-"));
  write(join(at, "submission"), { "main.py": "final" });
  write(join(at, "snapshots/0001"), program);
  const snapshot = { name: "0001", sinceStartMs: 100, digest: "early", files: 2, bytes: 10 };
  writeJson(join(at, "snapshots/index.json"), { formatVersion: 1, budgetMs: 1000, snapshots: [snapshot] });
  writeJson(join(at, "ledger.json"), exampleLedger({ wallMs: 1000, workingMs: 1000 }));
  writeJson(join(at, "admission.json"), { formatVersion: 1, admitted: false, reasons: [] });
  const outputs = ["checkpoint", "submission", "admission.json", "moment.json"];
  const inputs = ["submission", "snapshots", "ledger.json", "admission.json"];
  const read = step("moment-program.ts", at, inputs, outputs, ["--axis", "moment=50%"]);
  assert.deepEqual(read("moment.json").stood, { kind: "snapshot", name: "0001" });
  assert.equal(read("admission.json").admitted, true);
  assert.equal(readFileSync(join(at, "out/submission/program/main.py"), "utf8"), program["main.py"]);
});

test("paths that are too long to be copied are refused", () => {
  const { admission } = validated({ ...program, [join(...new Array(5).fill("d".repeat(250)), "e")]: "" });
  assert.equal(admission.admitted, false);
  assert.deepEqual(admission.reasons, [{ code: "over-limits", detail: "paths over 1024 bytes" }]);
});

test("a program that cannot be read is rejected, and nothing of it is kept", () => {
  const odd = mkdtempSync(join(root, "odd-"));
  mkdirSync(join(odd, "submission"));
  writeFileSync(Buffer.concat([Buffer.from(`${odd}/submission/`), Buffer.alloc(200, 0xff)]), "");
  const { admission, clean } = validated(program, {}, odd);
  assert.equal(admission.admitted, false);
  assert.match((admission.reasons as { detail: string }[])[0]!.detail, /known-good one can: .*ENAMETOOLONG/);
  assert.deepEqual(readdirSync(clean), []);
});
