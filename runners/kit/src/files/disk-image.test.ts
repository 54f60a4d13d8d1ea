import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeDisk } from "../../../../tests/support/machines/loop-disk.ts";
import {
  diskImageUse,
  extractDiskImage,
  extractDiskImages,
  mountDiskImage,
  removeDiskImage,
} from "./disk-image.ts";
import { removeFolder } from "./remove-folder.ts";

const mib = 1 << 20;

/** A folder with its own file system; undefined, and the test skipped, where there is none. */
async function image(
  t: TestContext,
  bytes = 32 * mib,
): Promise<{ base: string; folder: string } | undefined> {
  const base = mkdtempSync(join(tmpdir(), "disk-image-"));
  const folder = join(base, "attempt", "sandbox");
  mkdirSync(folder, { recursive: true });
  t.after(async () => {
    await removeDiskImage(folder);
    removeFolder(base);
  });
  const made = await mountDiskImage(folder, { bytes, owner: { uid: 60_700, gid: 60_701 } });
  if ("mounted" in made) return { base, folder };
  t.skip(made.missing);
  return undefined;
}

test("the kernel refuses more than the limit and 2 % + 16 MiB, and grants the limit", async (t) => {
  const at = await image(t);
  if (!at) return;
  const { uid, gid } = statSync(at.folder);
  assert.deepEqual([uid, gid], [60_700, 60_701]);
  assert.deepEqual(readdirSync(at.folder), []);
  assert.ok(diskImageUse(at.folder) < mib);
  writeFileSync(join(at.folder, "a"), Buffer.alloc(32 * mib, 1));
  assert.ok(diskImageUse(at.folder) >= 32 * mib);
  assert.throws(() => writeFileSync(join(at.folder, "b"), Buffer.alloc(17 * mib, 1)), { code: "ENOSPC" });
});

test("the number of files is limited too, and each counts at least 16 KiB", async (t) => {
  const at = await image(t, 4 * mib);
  if (!at) return;
  const fill = () => {
    for (let one = 0; one < 3000; one++) writeFileSync(join(at.folder, String(one)), "");
  };
  assert.throws(fill, { code: "ENOSPC" });
  assert.ok(diskImageUse(at.folder) > 4 * mib);
});

test("extracted files are ordinary files with their owners and holes, and the image is gone", async (t) => {
  const at = await image(t);
  if (!at) return;
  writeFileSync(join(at.folder, "a"), "text", { mode: 0o640 });
  const sparse = spawn("truncate", ["-s", "1T", join(at.folder, "sparse")]);
  await new Promise((resolve) => sparse.on("close", resolve));
  await extractDiskImage(at.folder);
  assert.equal(readFileSync(join(at.folder, "a"), "utf8"), "text");
  assert.equal(statSync(join(at.folder, "a")).mode & 0o777, 0o640);
  assert.equal(statSync(join(at.folder, "sparse")).blocks, 0);
  assert.equal(statSync(at.folder).uid, 60_700);
  assert.equal(statSync(at.folder).dev, statSync(at.base).dev);
  assert.deepEqual(readdirSync(join(at.base, "attempt")), ["sandbox"]);
});

test("images that a killed process left, mounted or not, are found and extracted", async (t) => {
  const at = await image(t);
  if (!at) return;
  writeFileSync(join(at.folder, "a"), "text");
  const { status } = await new Promise<{ status: number | null }>((resolve) =>
    spawn("umount", [at.folder]).on("close", (code) => resolve({ status: code })),
  );
  assert.equal(status, 0);
  assert.deepEqual(readdirSync(at.folder), [], "as after a power cut");
  await extractDiskImages(at.base);
  assert.equal(readFileSync(join(at.folder, "a"), "utf8"), "text");
  assert.ok(!existsSync(`${at.folder}.ext4`));
  await extractDiskImages(at.base);
});

test("where no file system can be mounted the folder stays as it is, and the reason is given", async (t) => {
  const base = mkdtempSync(join(tmpdir(), "disk-image-"));
  t.after(() => removeFolder(base));
  const { PATH } = process.env;
  process.env.PATH = "/nonexistent";
  t.after(() => {
    process.env.PATH = PATH;
  });
  const folder = join(base, "sandbox");
  mkdirSync(folder);
  const made = await mountDiskImage(folder, { bytes: mib, owner: { uid: 1, gid: 1 } });
  assert.match("missing" in made ? made.missing : "", /mkfs\.ext4|root|Linux/);
  assert.deepEqual(readdirSync(base), ["sandbox"]);
});

test("without room for the files the image stays whole, and what was copied gives its room back", async (t) => {
  const base = mkdtempSync(join(tmpdir(), "disk-image-"));
  const disk = makeDisk({ image: join(base, "host.ext4"), folder: join(base, "host"), bytes: 40 * mib });
  if (typeof disk === "string") return t.skip(disk);
  const folder = join(disk.folder, "sandbox");
  t.after(async () => {
    await removeDiskImage(folder);
    disk.unmount();
    removeFolder(base);
  });
  mkdirSync(folder);
  const made = await mountDiskImage(folder, { bytes: 16 * mib, owner: { uid: 60_700, gid: 60_701 } });
  if ("missing" in made) return t.skip(made.missing);
  for (const name of ["a", "b"]) writeFileSync(join(folder, name), Buffer.alloc(5 * mib, name));
  spawnSync("sync", ["-f", folder]);
  const free = () => statfsSync(disk.folder).bfree * statfsSync(disk.folder).bsize;
  writeFileSync(join(disk.folder, "others"), Buffer.alloc(free() - 8 * mib, 1));
  const before = free();
  await assert.rejects(extractDiskImage(folder), /No space left on device/);
  assert.ok(before - free() < mib, "the room of the half copy");
  assert.deepEqual(readdirSync(folder), [], "unmounted");
  rmSync(join(disk.folder, "others"));
  await extractDiskImage(folder);
  for (const name of ["a", "b"])
    assert.deepEqual(readFileSync(join(folder, name)), Buffer.alloc(5 * mib, name));
  assert.ok(!existsSync(`${folder}.ext4`));
});
