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
import { Contents, inodeOf, isSealed, MissingContent, sharedBytes } from "./contents.ts";

type Lab = ReturnType<typeof lab>;

/** A store and a folder beside it with what is to be taken in. */
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
/** Read at once, in chunks, and worth a hard link. */
const sizes = { small: 10, medium: 300_000, large: sharedBytes };
const bytesOf = (size: number) => Buffer.alloc(size, "content");
const large = bytesOf(sizes.large);

/** The store's own words: what it holds, without what was left on its way in. */
function held({ folder }: Lab): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((path) => path.replace("/", ""))
    .sort();
}

/** Puts something under a digest that is not what it says. */
function plant({ contents }: Lab, digest: string, bytes: Buffer | string): void {
  const path = contents.pathOf(digest);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes, { mode: 0o444 });
}

/** The same length, and one byte that is another. */
function flipped(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes);
  other[5]! ^= 1;
  return other;
}

const ways = { copied: {}, moved: { move: true }, linked: { link: true, read: new Map<string, string>() } };

for (const [how, options] of Object.entries(ways)) {
  for (const [what, size] of Object.entries(sizes)) {
    test(`a ${what} file that is ${how} in is read back by its digest, and nobody may write it`, (t) => {
      const at = lab(t);
      const bytes = bytesOf(size);
      const digest = at.contents.put(at.file("one", bytes, how === "linked" ? 0o444 : 0o664), options);
      assert.equal(digest, sha256(bytes));
      assert.deepEqual(at.contents.read(digest), bytes);
      assert.equal(statSync(at.contents.pathOf(digest)).mode & 0o777, 0o444);
      assert.deepEqual(held(at), [digest]);
    });

    test(`a ${what} content that a power cut tore is put right by the same file, ${how} in`, (t) => {
      const at = lab(t);
      const bytes = bytesOf(size);
      const digest = sha256(bytes);
      plant(at, digest, bytes.subarray(1));
      at.contents.put(at.file("one", bytes, 0o444), { ...options, read: new Map() });
      assert.deepEqual(at.contents.read(digest), bytes);
      assert.deepEqual(held(at), [digest]);
    });
  }
}

for (const how of ["moved", "linked"] as const) {
  test(`a large content that was changed in its place is put right by the same file, ${how} in`, (t) => {
    const at = lab(t);
    const digest = sha256(large);
    plant(at, digest, flipped(large));
    at.contents.put(at.file("one", large, 0o444), { ...ways[how], read: new Map() });
    assert.deepEqual(at.contents.read(digest), large);
  });
}

test("a large content that was changed in its place is put right by a file that is not linked in", (t) => {
  const at = lab(t);
  const digest = sha256(large);
  plant(at, digest, flipped(large));
  at.contents.put(at.file("one", large), { read: new Map() });
  assert.deepEqual(at.contents.read(digest), large);
});

test("a text that a power cut tore is put right by the same text", (t) => {
  const at = lab(t);
  plant(at, sha256("text"), "tex");
  const digest = at.contents.putText("text");
  assert.equal(at.contents.read(digest).toString(), "text");
});

test("a content that is there already is not written again", (t) => {
  const at = lab(t);
  for (const size of Object.values(sizes)) {
    const bytes = bytesOf(size);
    const digest = at.contents.put(at.file("one", bytes));
    const { ino } = statSync(at.contents.pathOf(digest));
    at.contents.put(at.file("two", bytes));
    assert.equal(statSync(at.contents.pathOf(digest)).ino, ino, String(size));
  }
  assert.equal(held(at).length, 3);
});

test("what is copied in stays where it was, with a file of its own", (t) => {
  const at = lab(t);
  for (const size of Object.values(sizes)) {
    const path = at.file("one", bytesOf(size));
    const digest = at.contents.put(path);
    writeFileSync(path, "other");
    assert.deepEqual(at.contents.read(digest), bytesOf(size));
  }
});

test("what is moved in is gone from where it was, also where the store has it", (t) => {
  const at = lab(t);
  for (const size of Object.values(sizes)) {
    for (const path of [at.file("one", bytesOf(size)), at.file("two", bytesOf(size))]) {
      at.contents.put(path, { move: true });
      assert.equal(existsSync(path), false, `${size}`);
    }
  }
});

test("a large file that the store has leaves the store's own file in its place", (t) => {
  const at = lab(t);
  const digest = at.contents.put(at.file("one", large), { move: true });
  const { ino } = statSync(at.contents.pathOf(digest));
  at.contents.put(at.file("two", large), { move: true });
  assert.equal(statSync(at.contents.pathOf(digest)).ino, ino);
});

test("a file that has another name is copied instead of moved: it could be written through that name", (t) => {
  const at = lab(t);
  const path = at.file("one", "content");
  linkSync(path, join(at.given, "two"));
  const digest = at.contents.put(path, { move: true });
  writeFileSync(join(at.given, "two"), "changed");
  assert.equal(at.contents.read(digest).toString(), "content");
});

test("a file all of whose names are taken is moved, and each of its names goes", (t) => {
  const at = lab(t);
  const path = at.file("one", "content");
  linkSync(path, join(at.given, "two"));
  const names = new Map([[inodeOf(statSync(path)), 2]]);
  const stats = new Map(["one", "two"].map((name) => [join(at.given, name), statSync(path)]));
  const { ino } = statSync(path);
  for (const name of ["one", "two"]) at.contents.put(join(at.given, name), { move: true, names, stats });
  assert.deepEqual(readdirSync(at.given), []);
  const stored = statSync(at.contents.pathOf(sha256("content")));
  assert.deepEqual([stored.ino, stored.nlink], [ino, 1]);
});

test("a file of which one name is not taken is copied, whatever its other names", (t) => {
  const at = lab(t);
  const path = at.file("one", "content");
  for (const name of ["two", "kept"]) linkSync(path, join(at.given, name));
  const names = new Map([[inodeOf(statSync(path)), 2]]);
  const digest = at.contents.put(path, { move: true, names });
  writeFileSync(join(at.given, "kept"), "changed");
  assert.equal(at.contents.read(digest).toString(), "content");
});

const otherDisk =
  existsSync("/dev/shm") && statSync("/dev/shm").dev !== statSync(tmpdir()).dev
    ? false
    : "/dev/shm is no file system of its own here";
test("a file on another file system is copied where it cannot be moved", { skip: otherDisk }, (t) => {
  const at = lab(t, "/dev/shm");
  const digest = at.contents.put(at.file("one", "content"), { move: true });
  assert.equal(at.contents.read(digest).toString(), "content");
  assert.deepEqual(held(at), [digest]);
});

test("a digest that is known already is believed: the file is moved in unread", (t) => {
  const at = lab(t);
  const path = at.file("one", "content");
  const digest = sha256("what was hashed on another thread");
  assert.equal(at.contents.put(path, { move: true, digests: new Map([[path, digest]]) }), digest);
  assert.equal(readFileSync(at.contents.pathOf(digest), "utf8"), "content");
});

test("a large file that nobody may write is linked in: it lies on the disk once", (t) => {
  const at = lab(t);
  const path = at.file("one", large, 0o444);
  const digest = at.contents.put(path, { link: true, read: new Map() });
  assert.equal(statSync(at.contents.pathOf(digest)).ino, statSync(path).ino);
});

const unshared: Record<string, [Buffer, number, boolean]> = {
  "that its owner may write": [large, 0o644, true],
  "that can be executed": [large, 0o555, true],
  "that is not worth it": [large.subarray(1), 0o444, true],
  "that is not to be linked": [large, 0o444, false],
};
for (const [what, [bytes, mode, link]] of Object.entries(unshared)) {
  test(`a file ${what} is copied in and shares nothing`, (t) => {
    const at = lab(t);
    const path = at.file("one", bytes, mode);
    const digest = at.contents.put(path, { link, read: new Map() });
    assert.equal(statSync(path).nlink, 1);
    assert.deepEqual(at.contents.read(digest), bytes);
  });
}

test("a file with many names is read once: what its inode was found to be counts for the others", (t) => {
  const at = lab(t);
  const path = at.file("one", large, 0o444);
  const read = new Map<string, string>();
  const digest = at.contents.put(path, { link: true, read });
  assert.deepEqual([...read], [[inodeOf(statSync(path)), digest]]);
  const told = "0".repeat(64);
  plant(at, told, large);
  const known = new Map([[inodeOf(statSync(path)), told]]);
  assert.equal(at.contents.put(path, { link: true, read: known }), told, "it is not read");
});

test("an inode whose content is gone from the store is put in again", (t) => {
  const at = lab(t);
  const path = at.file("one", large, 0o444);
  const read = new Map<string, string>();
  const digest = at.contents.put(path, { link: true, read });
  at.contents.remove(digest);
  at.contents.put(path, { link: true, read });
  assert.deepEqual(at.contents.read(digest), large);
});

test("a copy that was made beforehand is put in place, for every name of its file", (t) => {
  const at = lab(t);
  const path = at.file("one", large);
  const copy = at.contents.temporary();
  writeFileSync(copy, large, { mode: 0o600 });
  const digest = sha256(large);
  const copies = new Map([[inodeOf(statSync(path)), { path: copy, digest }]]);
  for (let name = 0; name < 2; name++) assert.equal(at.contents.put(path, { copies }), digest);
  assert.deepEqual(held(at), [digest]);
  assert.equal(statSync(at.contents.pathOf(digest)).mode & 0o777, 0o444);
});

test("a copy that was made of what the store has already is thrown away", (t) => {
  const at = lab(t);
  const path = at.file("one", large);
  const digest = at.contents.put(path);
  const { ino } = statSync(at.contents.pathOf(digest));
  const copy = at.contents.temporary();
  writeFileSync(copy, large);
  at.contents.put(path, { copies: new Map([[inodeOf(statSync(path)), { path: copy, digest }]]) });
  assert.deepEqual(held(at), [digest]);
  assert.equal(statSync(at.contents.pathOf(digest)).ino, ino);
});

test("a link is not followed: what it leads to does not enter", (t) => {
  const at = lab(t);
  const secret = at.file("secret", "secret");
  symlinkSync(secret, join(at.given, "link"));
  for (const options of Object.values(ways))
    assert.throws(() => at.contents.put(join(at.given, "link"), options), { code: "ELOOP" });
  const said = {
    stats: new Map([[join(at.given, "link"), { ...lstatSync(secret), size: sizes.medium } as never]]),
  };
  assert.throws(
    () => at.contents.put(join(at.given, "link"), said),
    { code: "ELOOP" },
    "not by copying either",
  );
  assert.deepEqual(held(at), []);
});

test("a content that cannot be put in place leaves nothing behind and says why", (t) => {
  const at = lab(t);
  const bytes = bytesOf(sizes.medium);
  for (const one of ["text", bytes, large])
    writeFileSync(join(at.folder, sha256(one).slice(0, 1)), "in the way");
  assert.throws(() => at.contents.putText("text"), { code: "ENOTDIR" });
  assert.throws(() => at.contents.put(at.file("one", bytes)), { code: "ENOTDIR" });
  const sealed = at.file("two", large, 0o444);
  assert.throws(() => at.contents.put(sealed, { link: true, read: new Map() }), { code: "ENOTDIR" });
  assert.deepEqual(
    held(at).filter((name) => name.startsWith("tmp-")),
    [],
  );
});

test("a content that is missing is said to be missing", (t) => {
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

test("a content that cannot be read for another reason is not taken for missing", (t) => {
  const { contents } = lab(t);
  const digest = sha256("in the way");
  mkdirSync(contents.pathOf(digest), { recursive: true });
  assert.throws(() => contents.read(digest), { code: "EISDIR" });
});

for (const ask of ["read", "check"] as const) {
  test(`a content that was changed in its place is never given: ${ask} removes it, and it can be put in again`, (t) => {
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

test("a damaged content that is removed stays with whoever shares its file", (t) => {
  const at = lab(t);
  const digest = at.contents.putText("content");
  const record = join(at.given, "record");
  linkSync(at.contents.pathOf(digest), record);
  assert.throws(() => at.contents.discard(digest), MissingContent);
  assert.equal(readFileSync(record, "utf8"), "content");
});

test("only a plain mode without any right to write or execute seals a file", (t) => {
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

test("a file that is another, longer, later or elsewhere is another inode", (t) => {
  const stats = statSync(lab(t).file("one", "content"));
  const other = (changed: object) => inodeOf(Object.assign(Object.create(stats), changed));
  for (const changed of [{ dev: -1 }, { ino: -1 }, { size: -1 }, { mtimeMs: -1 }])
    assert.notEqual(other(changed), inodeOf(stats), JSON.stringify(changed));
});
