// Converted images of Apptainer. The program is a stub.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { ensureSif, sifFile } from "./apptainer-image.ts";

const digest = `sha256:${"1".repeat(64)}`;
const image = `lab/agent@${digest}`;

/** `pull` says in a file what it was asked, then does `then` with the file's name in $4. */
function place(t: TestContext, then = 'echo image > "$4"') {
  const root = mkdtempSync(join(tmpdir(), "sif-"));
  t.after(() => removeFolder(root));
  const program = join(root, "apptainer");
  writeFileSync(program, `#!/bin/sh\necho "$1 $2 $3 $5" >> ${root}/asked\nsleep 0.2\n${then}\n`, {
    mode: 0o755,
  });
  const folder = join(root, "images");
  return { program, folder, silentMs: 200, asked: () => readFileSync(join(root, "asked"), "utf8") };
}

test("jobs that need an image at once convert it once", async (t) => {
  const at = place(t);
  await Promise.all([1, 2, 3].map(() => ensureSif(image, { ...at, silentMs: 3_000 })));
  await ensureSif(image, at);
  assert.equal(at.asked(), `--quiet pull --force docker://${image}\n`);
  assert.deepEqual(readdirSync(at.folder), [`${digest.replace(":", "-")}.sif`]);
});

test("an image that cannot be converted is reported, and leaves nothing", async (t) => {
  const at = place(t, 'echo half > "$4"; echo "no such manifest" >&2; exit 255');
  await assert.rejects(ensureSif(image, at), /could not be converted: no such manifest/);
  assert.deepEqual(readdirSync(at.folder), []);
});

test("the lease of a dead job is taken over once it gives no sign of life", async (t) => {
  const at = place(t);
  mkdirSync(`${sifFile(image, at.folder)}.lease`, { recursive: true });
  await ensureSif(image, at);
  assert.deepEqual(readdirSync(at.folder), [`${digest.replace(":", "-")}.sif`]);
});

test("an image that is not named by digest has no file", () => {
  assert.equal(sifFile("host", "/images"), undefined);
  assert.throws(() => sifFile("images/agent/Dockerfile", "/images"), /apptainer builds no Dockerfile/);
  assert.throws(() => sifFile("debian:12", "/images"), /not pinned to a digest/);
});
