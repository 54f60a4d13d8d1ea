import assert from "node:assert/strict";
import { hash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { Contents, inodeOf, isSealed, MissingContent, sharedBytes } from "./content-store.ts";

type Lab = ReturnType<typeof lab>;

/** A store and a folder of files to put into it. */
function lab(t: TestContext, outside = tmpdir()) {
  const above = mkdtempSync(join(tmpdir(), "mlrb-contents-"));
  const given = mkdtempSync(join(outside, "mlrb-given-"));
  t.after(() => {
    for (const folder of [above, given]) rmSync(folder, { recursive: true });
  });
  const folder = join(above, "blobs");
  mkdirSync(folder);
  const contents = new Contents(folder);
  const file = (name: string, bytes: Buffer | string, mode = 0o644) => {
    const path = join(given, name);
    writeFileSync(path, bytes);
    chmodSync(path, mode);
    return path;
  };
  return { folder, contents, file, given };
}

const sha256 = (bytes: Buffer | string) => hash("sha256", bytes);
/** Sizes of a file read at once, one read in chunks, and one large enough for a hard link. */
const sizes = { small: 10, medium: 300_000, large: sharedBytes };
const bytesOf = (size: number) => Buffer.alloc(size, "content");
const large = bytesOf(sizes.large);

/** The digests of all contents in the store, and the names of temporary files left there. */
function held({ folder }: Lab): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((path) => path.replace("/", ""))
    .sort();
}

/** Writes bytes under the digest of other bytes. */
function plant({ contents }: Lab, digest: string, bytes: Buffer | string): void {
  const path = contents.pathOf(digest);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes, { mode: 0o444 });
}

/** The same length, with one byte changed. */
function flipped(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes);
  other[5]! ^= 1;
  return other;
}

const ways = { copied: {}, moved: { move: true }, linked: { link: true, read: new Map<string, string>() } };

for (const [how, options] of Object.entries(ways)) {
  for (const [what, size] of Object.entries(sizes)) {
    test(`a ${what} file that is ${how} in is read back by its digest, from a read-only file`, (t) => {
      const at = lab(t);
      const bytes = bytesOf(size);
      const digest = at.contents.putFile(at.file("one", bytes, how === "linked" ? 0o444 : 0o664), options);
      assert.equal(digest, sha256(bytes));
      assert.deepEqual(at.contents.read(digest), bytes);
      assert.equal(statSync(at.contents.pathOf(digest)).mode & 0o777, 0o444);
      assert.deepEqual(held(at), [digest]);
    });

    test(`a ${what} content torn by a power cut is repaired by the same file, ${how} in`, (t) => {
      const at = lab(t);
      const bytes = bytesOf(size);
      const digest = sha256(bytes);
      plant(at, digest, bytes.subarray(1));
      at.contents.putFile(at.file("one", bytes, 0o444), { ...options, read: new Map() });
      assert.deepEqual(at.contents.read(digest), bytes);
      assert.deepEqual(held(at), [digest]);
    });
  }
}

for (const how of ["moved", "linked"] as const) {
  test(`a large content that was overwritten is repaired by the same file, ${how} in`, (t) => {
    const at = lab(t);
    const digest = sha256(large);
    plant(at, digest, flipped(large));
    at.contents.putFile(at.file("one", large, 0o444), { ...ways[how], read: new Map() });
    assert.deepEqual(at.contents.read(digest), large);
  });
}

test("a large content that was overwritten is repaired by a copy of the same file", (t) => {
  const at = lab(t);
  const digest = sha256(large);
  plant(at, digest, flipped(large));
  at.contents.putFile(at.file("one", large), { read: new Map() });
  assert.deepEqual(at.contents.read(digest), large);
});

test("a text torn by a power cut is repaired by the same text", (t) => {
  const at = lab(t);
  plant(at, sha256("text"), "tex");
  const digest = at.contents.putText("text");
  assert.equal(at.contents.read(digest).toString(), "text");
});

test("a content that is in the store is not written again", (t) => {
  const at = lab(t);
  for (const size of Object.values(sizes)) {
    const bytes = bytesOf(size);
    const digest = at.contents.putFile(at.file("one", bytes));
    const { ino } = statSync(at.contents.pathOf(digest));
    at.contents.putFile(at.file("two", bytes));
    assert.equal(statSync(at.contents.pathOf(digest)).ino, ino, String(size));
  }
  assert.equal(held(at).length, 3);
});

test("a later write to a copied file does not reach the store", (t) => {
  const at = lab(t);
  for (const size of Object.values(sizes)) {
    const path = at.file("one", bytesOf(size));
    const digest = at.contents.putFile(path);
    writeFileSync(path, "other");
    assert.deepEqual(at.contents.read(digest), bytesOf(size));
  }
});

test("a moved file is gone from its place, even if the store has it already", (t) => {
  const at = lab(t);
  for (const size of Object.values(sizes)) {
    for (const path of [at.file("one", bytesOf(size)), at.file("two", bytesOf(size))]) {
      at.contents.putFile(path, { move: true });
      assert.equal(existsSync(path), false, `${size}`);
    }
  }
});

test("moving in a large content that is in the store keeps the store's file", (t) => {
  const at = lab(t);
  const digest = at.contents.putFile(at.file("one", large), { move: true });
  const { ino } = statSync(at.contents.pathOf(digest));
  at.contents.putFile(at.file("two", large), { move: true });
  assert.equal(statSync(at.contents.pathOf(digest)).ino, ino);
});

test("a file with another hard link is copied instead of moved", (t) => {
  const at = lab(t);
  const path = at.file("one", "content");
  linkSync(path, join(at.given, "two"));
  const digest = at.contents.putFile(path, { move: true });
  writeFileSync(join(at.given, "two"), "changed");
  assert.equal(at.contents.read(digest).toString(), "content");
});

test("a file is moved if all its hard links are moved in, and all links are then gone", (t) => {
  const at = lab(t);
  const path = at.file("one", "content");
  linkSync(path, join(at.given, "two"));
  const names = new Map([[inodeOf(statSync(path)), 2]]);
  const stats = new Map(["one", "two"].map((name) => [join(at.given, name), statSync(path)]));
  const { ino } = statSync(path);
  for (const name of ["one", "two"]) at.contents.putFile(join(at.given, name), { move: true, names, stats });
  assert.deepEqual(readdirSync(at.given), []);
  const stored = statSync(at.contents.pathOf(sha256("content")));
  assert.deepEqual([stored.ino, stored.nlink], [ino, 1]);
});

test("a file with one hard link that is not moved in is copied", (t) => {
  const at = lab(t);
  const path = at.file("one", "content");
  for (const name of ["two", "kept"]) linkSync(path, join(at.given, name));
  const names = new Map([[inodeOf(statSync(path)), 2]]);
  const digest = at.contents.putFile(path, { move: true, names });
  writeFileSync(join(at.given, "kept"), "changed");
  assert.equal(at.contents.read(digest).toString(), "content");
});

const otherDisk =
  existsSync("/dev/shm") && statSync("/dev/shm").dev !== statSync(tmpdir()).dev
    ? false
    : "/dev/shm is no file system of its own here";
test("a file on another file system is copied instead of moved", { skip: otherDisk }, (t) => {
  const at = lab(t, "/dev/shm");
  const digest = at.contents.putFile(at.file("one", "content"), { move: true });
  assert.equal(at.contents.read(digest).toString(), "content");
  assert.deepEqual(held(at), [digest]);
});

test("a file whose digest is known is moved in without being read", (t) => {
  const at = lab(t);
  const path = at.file("one", "content");
  const digest = sha256("what was hashed on another thread");
  assert.equal(at.contents.putFile(path, { move: true, digests: new Map([[path, digest]]) }), digest);
  assert.equal(readFileSync(at.contents.pathOf(digest), "utf8"), "content");
});

test("a large read-only file is hard-linked into the store", (t) => {
  const at = lab(t);
  const path = at.file("one", large, 0o444);
  const digest = at.contents.putFile(path, { link: true, read: new Map() });
  assert.equal(statSync(at.contents.pathOf(digest)).ino, statSync(path).ino);
});

const unshared: Record<string, [Buffer, number, boolean]> = {
  "that its owner may write": [large, 0o644, true],
  "that can be executed": [large, 0o555, true],
  "that is not worth it": [large.subarray(1), 0o444, true],
  "that is not to be linked": [large, 0o444, false],
};
for (const [what, [bytes, mode, link]] of Object.entries(unshared)) {
  test(`a file ${what} is copied instead of linked`, (t) => {
    const at = lab(t);
    const path = at.file("one", bytes, mode);
    const digest = at.contents.putFile(path, { link, read: new Map() });
    assert.equal(statSync(path).nlink, 1);
    assert.deepEqual(at.contents.read(digest), bytes);
  });
}

test("a file with several hard links is read once", (t) => {
  const at = lab(t);
  const path = at.file("one", large, 0o444);
  const read = new Map<string, string>();
  const digest = at.contents.putFile(path, { link: true, read });
  assert.deepEqual([...read], [[inodeOf(statSync(path)), digest]]);
  const other = "0".repeat(64);
  plant(at, other, large);
  const known = new Map([[inodeOf(statSync(path)), other]]);
  assert.equal(at.contents.putFile(path, { link: true, read: known }), other, "it is not read");
});

test("a known inode whose content is gone from the store is put in again", (t) => {
  const at = lab(t);
  const path = at.file("one", large, 0o444);
  const read = new Map<string, string>();
  const digest = at.contents.putFile(path, { link: true, read });
  at.contents.remove(digest);
  at.contents.putFile(path, { link: true, read });
  assert.deepEqual(at.contents.read(digest), large);
});

test("a prepared copy is put in place once for all hard links of its file", (t) => {
  const at = lab(t);
  const path = at.file("one", large);
  const copy = at.contents.temporary();
  writeFileSync(copy, large, { mode: 0o600 });
  const digest = sha256(large);
  const copies = new Map([[inodeOf(statSync(path)), { path: copy, digest }]]);
  for (let name = 0; name < 2; name++) assert.equal(at.contents.putFile(path, { copies }), digest);
  assert.deepEqual(held(at), [digest]);
  assert.equal(statSync(at.contents.pathOf(digest)).mode & 0o777, 0o444);
});

test("a prepared copy of a content that is in the store is removed", (t) => {
  const at = lab(t);
  const path = at.file("one", large);
  const digest = at.contents.putFile(path);
  const { ino } = statSync(at.contents.pathOf(digest));
  const copy = at.contents.temporary();
  writeFileSync(copy, large);
  at.contents.putFile(path, { copies: new Map([[inodeOf(statSync(path)), { path: copy, digest }]]) });
  assert.deepEqual(held(at), [digest]);
  assert.equal(statSync(at.contents.pathOf(digest)).ino, ino);
});

test("a symbolic link is refused, not followed", (t) => {
  const at = lab(t);
  const secret = at.file("secret", "secret");
  symlinkSync(secret, join(at.given, "link"));
  for (const options of Object.values(ways))
    assert.throws(() => at.contents.putFile(join(at.given, "link"), options), { code: "ELOOP" });
  const said = {
    stats: new Map([[join(at.given, "link"), { ...lstatSync(secret), size: sizes.medium } as never]]),
  };
  assert.throws(
    () => at.contents.putFile(join(at.given, "link"), said),
    { code: "ELOOP" },
    "not by copying either",
  );
  assert.deepEqual(held(at), []);
});

test("a content that cannot be stored leaves no temporary file", (t) => {
  const at = lab(t);
  const bytes = bytesOf(sizes.medium);
  for (const one of ["text", bytes, large])
    writeFileSync(join(at.folder, sha256(one).slice(0, 1)), "in the way");
  assert.throws(() => at.contents.putText("text"), { code: "ENOTDIR" });
  assert.throws(() => at.contents.putFile(at.file("one", bytes)), { code: "ENOTDIR" });
  const sealed = at.file("two", large, 0o444);
  assert.throws(() => at.contents.putFile(sealed, { link: true, read: new Map() }), { code: "ENOTDIR" });
  assert.deepEqual(
    held(at).filter((name) => name.startsWith("tmp-")),
    [],
  );
});

test("reading an absent content throws MissingContent", (t) => {
  const { contents } = lab(t);
  const digest = sha256("nothing");
  assert.equal(contents.has(digest), false);
  assert.throws(
    () => contents.read(digest),
    (error) => {
      assert.ok(error instanceof MissingContent);
      assert.equal(error.message, `the store lacks ${digest}`);
      return true;
    },
  );
});

test("an unreadable content is an error, not a missing content", (t) => {
  const { contents } = lab(t);
  const digest = sha256("in the way");
  mkdirSync(contents.pathOf(digest), { recursive: true });
  assert.throws(() => contents.read(digest), { code: "EISDIR" });
});

for (const ask of ["read", "check"] as const) {
  test(`${ask} removes an overwritten content instead of returning it`, (t) => {
    const at = lab(t);
    const digest = at.contents.putText("content");
    rmSync(at.contents.pathOf(digest));
    plant(at, digest, flipped(Buffer.from("content")));
    assert.throws(() => at.contents[ask](digest), MissingContent);
    assert.equal(at.contents.has(digest), false);
    at.contents.putText("content");
    at.contents[ask](digest);
  });
}

test("discarding a content keeps the other hard links of its file", (t) => {
  const at = lab(t);
  const digest = at.contents.putText("content");
  const record = join(at.given, "record");
  linkSync(at.contents.pathOf(digest), record);
  assert.throws(() => at.contents.discard(digest), MissingContent);
  assert.equal(readFileSync(record, "utf8"), "content");
});

test("a file is sealed only if its owner is this user and no one may write or execute it", (t) => {
  const at = lab(t);
  const path = at.file("one", "content");
  for (const [mode, sealed] of [
    [0o444, true],
    [0o400, true],
    [0o644, false],
    [0o464, false],
    [0o446, false],
    [0o445, false],
  ] as const) {
    chmodSync(path, mode);
    assert.equal(isSealed(statSync(path)), sealed, mode.toString(8));
  }
  chmodSync(path, 0o444);
  const stats = statSync(path);
  stats.uid += 1;
  assert.equal(isSealed(stats), false, "another user may give himself the right");
});

test("another device, inode number, size or mtime is another inode", (t) => {
  const stats = statSync(lab(t).file("one", "content"));
  const other = (changed: object) => inodeOf(Object.assign(Object.create(stats), changed));
  for (const changed of [{ dev: -1 }, { ino: -1 }, { size: -1 }, { mtimeMs: -1 }])
    assert.notEqual(other(changed), inodeOf(stats), JSON.stringify(changed));
});
