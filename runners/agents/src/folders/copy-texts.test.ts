import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { copyTexts } from "./copy-texts.ts";

const limits = { bytesMax: 1000, fileBytesMax: 600, filesMax: 100 };

function workspace(t: TestContext, files: Record<string, string | Buffer>) {
  const root = mkdtempSync(join(tmpdir(), "copy-texts-"));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, "in", path, ".."), { recursive: true });
    writeFileSync(join(root, "in", path), content);
  }
  const to = join(root, "out");
  const copy = (more = {}) => copyTexts(root, { inside: "in", to, without: [], limits, ...more });
  return { root, to, copy };
}

test("texts, archives, binary files and images are copied, what was given is passed over", async (t) => {
  const zeros = Buffer.alloc(64);
  const { to, copy } = workspace(t, {
    "notes.txt": "a plan",
    "src/train.py": "print(1)",
    "rows.gz": Buffer.from([0x1f, 0x8b, 8, 0, 1]),
    "cache.arrow": Buffer.concat([Buffer.from("ARROW1\0\0rows"), zeros]),
    "plot.png": Buffer.concat([Buffer.from("\x89PNG", "latin1"), zeros]),
    "data/train.jsonl": "given",
  });
  const found = await copy({ without: ["data"] });
  assert.deepEqual(
    found.files.map(({ path, bytes }) => [path, bytes]),
    [
      ["cache.arrow", 76],
      ["notes.txt", 6],
      ["plot.png", 68],
      ["rows.gz", 5],
      ["src/train.py", 8],
    ],
  );
  assert.deepEqual(found.leftOut, []);
  assert.equal(readFileSync(join(to, "src/train.py"), "utf8"), "print(1)");
  assert.deepEqual(readdirSync(to).sort(), ["cache.arrow", "notes.txt", "plot.png", "rows.gz", "src"]);
});

test("the smallest texts are kept first, and what does not fit is listed", async (t) => {
  const { copy } = workspace(t, { a: "x".repeat(601), b: "y".repeat(500), c: "z".repeat(501), d: "last" });
  const found = await copy();
  assert.deepEqual(
    found.files.map(({ path }) => path),
    ["b", "d"],
  );
  assert.deepEqual(found.leftOut, [
    { path: "c", why: "no room is left for its text" },
    { path: "a", why: "too large" },
  ]);
});

test("binary files get the room that texts leave, and what does not fit is listed as not kept", async (t) => {
  const binary = (bytes: number) => Buffer.alloc(bytes);
  const { copy } = workspace(t, { a: binary(600), b: "y".repeat(500), c: binary(300) });
  const found = await copy();
  assert.deepEqual(
    found.files.map(({ path }) => path),
    ["b", "c"],
  );
  assert.deepEqual(found.leftOut, [{ path: "a", why: "binary: no room is left for its text" }]);
});

/** A safetensors file of one tensor with these values. */
function weights(values: Buffer, metadata = {}): Buffer {
  const tensor = { dtype: "U8", shape: [values.length], data_offsets: [0, values.length] };
  const header = Buffer.from(JSON.stringify({ __metadata__: metadata, w: tensor }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, values]);
}

const prose = Buffer.from(
  "The ferry left the harbour at seven, and nobody on the quay waved to it. ".repeat(8000),
);
const noise = Buffer.from(Float32Array.from({ length: 150_000 }, (_, at) => Math.sin(at) / 50).buffer);
const png = (content: Buffer) => Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\r", "latin1"), content]);

test("of weights that do not fit the header is kept, and only content without text is passed over", async (t) => {
  const honest = weights(noise, { row: "The ferry left" });
  const { to, copy } = workspace(t, {
    "a.safetensors": honest,
    "b.safetensors": weights(prose),
    "c.safetensors": Buffer.concat([Buffer.from("\x02\0\0\0\0\0\0\0{}", "latin1"), prose]),
    "d.png": png(noise),
    "e.png": png(prose),
    "f.safetensors": weights(Buffer.from(prose.toString(), "utf16le")),
    "g.safetensors": weights(noise.subarray(100), { text: prose.toString() }),
  });
  const found = await copy();
  const header = honest.length - noise.length;
  assert.deepEqual(
    found.files.map(({ path, bytes }) => [path, bytes]),
    [["a.safetensors", header]],
  );
  assert.deepEqual(readFileSync(join(to, "a.safetensors")), honest.subarray(0, header));
  const why = Object.fromEntries(found.leftOut.map(({ path, why }) => [path, why]));
  const unread = "binary: too large";
  assert.deepEqual(why, {
    ...{ "a.safetensors": "no text: safetensors", "d.png": "no text: media" },
    ...{ "b.safetensors": unread, "c.safetensors": unread, "e.png": unread },
    ...{ "f.safetensors": unread, "g.safetensors": unread },
  });
});

test("small weights and media are copied whole, after texts and other binary files", async (t) => {
  const small = weights(noise.subarray(0, 200));
  const { copy } = workspace(t, {
    "a.safetensors": small,
    "b.png": png(noise.subarray(0, 500)),
    c: Buffer.alloc(400),
  });
  const found = await copy();
  assert.deepEqual(
    found.files.map(({ path, bytes }) => [path, bytes]),
    [
      ["a.safetensors", small.length],
      ["c", 400],
    ],
  );
  assert.deepEqual(found.leftOut, [{ path: "b.png", why: "no text: media" }]);
});

test("links lead nowhere, and a folder that the agent removed is empty", async (t) => {
  const { root, copy } = workspace(t, { "own.txt": "mine" });
  symlinkSync("/etc/hostname", join(root, "in/hosts"));
  assert.deepEqual((await copy()).leftOut, [{ path: "hosts", why: "symbolic link" }]);
  const gone = await copyTexts(root, { inside: "gone", to: join(root, "none"), without: [], limits });
  assert.deepEqual(gone.files, []);
  assert.deepEqual(gone.leftOut, [{ path: ".", why: "gone while it was read" }]);
});

test("more files than are looked at are said, and the first ones are kept", async (t) => {
  const files = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`f${at}`, "text"]));
  const { copy } = workspace(t, files);
  const found = await copy({ limits: { ...limits, filesMax: 5 } });
  assert.equal(found.over, "more than 5 files and folders");
  assert.equal(found.files.length, 5);
});
