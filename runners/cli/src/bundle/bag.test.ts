// Bundles as their author packs them, and as a stranger may: nothing leaves the folder, and no other byte is read.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
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
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { ZipFile } from "yazl";
import { bagFolder, isBundlePath, manifestName, tagFiles } from "./bag.ts";
import { readBag } from "./read-bag.ts";
import { writeBag } from "./write-bag.ts";

const contents: Record<string, string> = {
  "manifest.json": '{"members":[]}',
  "members/0000/score": '{"value":1}',
  "members/0001/samples.jsonl": "x\n".repeat(900),
  "records/empty": "",
  "results/summary.csv": "a,b\r\n".repeat(103),
};

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "bag-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function smallBag(t: TestContext) {
  const folder = folderOf(t);
  const files = join(folder, "files");
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(files, path)), { recursive: true });
    writeFileSync(join(files, path), text);
  }
  const path = join(folder, "small.zip");
  await writeBag(path, files, Object.keys(contents));
  return { folder, path, files };
}

let unpacked = 0;
const read = (folder: string, path: string) => readBag(path, join(folder, `unpacked-${++unpacked}`));

type Packed = [name: string, text: string, more?: { compress?: boolean; mode?: number }];

/** A zip of any entries; its manifests list `data` truly. */
async function packed(t: TestContext, entries: Packed[], rename = (bytes: Buffer) => bytes): Promise<string> {
  const zip = new ZipFile();
  for (const [name, text, more] of entries)
    zip.addBuffer(Buffer.from(text), `${bagFolder}/${name}`, { compress: false, ...more });
  zip.end();
  const path = join(folderOf(t), "hostile.zip");
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  writeFileSync(path, rename(Buffer.concat(chunks)));
  return path;
}

const tags = (): Packed[] => [...tagFiles([])];

test("an unchanged bundle is read whole; unzip and sha256sum check it, and its bytes do not depend on the zone", async (t) => {
  const { folder, path, files } = await smallBag(t);
  const to = join(folder, "read");
  assert.deepEqual(await readBag(path, to), []);
  for (const [name, text] of Object.entries(contents))
    assert.equal(readFileSync(join(to, "data", name), "utf8"), text);
  execFileSync("unzip", ["-q", path], { cwd: folder });
  for (const manifest of [manifestName, "tagmanifest-sha256.txt"])
    execFileSync("sha256sum", ["-c", "--strict", "--quiet", manifest], { cwd: join(folder, bagFolder) });

  const program = `const { writeBag } = await import(${JSON.stringify(new URL("write-bag.ts", import.meta.url).href)});
await writeBag(${JSON.stringify(join(folder, "again.zip"))}, ${JSON.stringify(files)}, ${JSON.stringify(Object.keys(contents))});`;
  const again = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, TZ: "Asia/Kathmandu" },
    encoding: "utf8",
  });
  assert.equal(again.status, 0, again.stderr);
  assert.ok(readFileSync(join(folder, "again.zip")).equals(readFileSync(path)));
});

test("after each of 100 random flips of a byte, the bundle is refused or what is read of it is the same", async (t) => {
  const { folder, path } = await smallBag(t);
  const bytes = readFileSync(path);
  const flipped = join(folder, "flipped.zip");
  let refused = 0;
  for (let flip = 0; flip < 100; flip++) {
    const at = Math.floor(Math.random() * bytes.length);
    const before = bytes[at]!;
    bytes[at] = before ^ (1 << Math.floor(Math.random() * 8));
    writeFileSync(flipped, bytes);
    bytes[at] = before;
    const to = join(folder, "flipped");
    if ((await readBag(flipped, to)).length > 0) refused++;
    else
      for (const [name, text] of Object.entries(contents))
        assert.equal(readFileSync(join(to, "data", name), "utf8"), text, `byte ${at}`);
    rmSync(to, { recursive: true, force: true });
  }
  assert.ok(refused > 30, String(refused));
});

test("a changed, a missing and a further file are named with their manifest", async (t) => {
  const files = [
    { path: "a", bytes: 1, sha256: "0".repeat(64) },
    { path: "b", bytes: 1, sha256: "0".repeat(64) },
  ];
  const path = await packed(t, [...tagFiles(files), ["data/a", "x"], ["data/c", "x"], ["more.txt", "x"]]);
  assert.deepEqual(await read(folderOf(t), path), [
    "more.txt: tagmanifest-sha256.txt does not list it",
    "data/a: its SHA-256 is not that in manifest-sha256.txt",
    "data/b: manifest-sha256.txt lists it, and it is not in the bundle",
    "data/c: manifest-sha256.txt does not list it",
  ]);
});

test("a manifest that lists a file twice or with other words is refused", async (t) => {
  const line = `${"0".repeat(64)}  data/a\n`;
  for (const text of [line + line, "data/a\n", `${"0".repeat(64)} *data/a\n`]) {
    const [bagit] = tags();
    const path = await packed(t, [bagit!, [manifestName, text], ["tagmanifest-sha256.txt", ""]]);
    const problems = (await read(folderOf(t), path)).join("\n");
    assert.match(problems, /^manifest-sha256\.txt: .* is no line of a manifest/m);
  }
});

test("a bundle that is cut anywhere, and a file that is no archive, are refused", async (t) => {
  const { folder, path } = await smallBag(t);
  const bytes = readFileSync(path);
  const cut = join(folder, "cut.zip");
  for (let size = 0; size < bytes.length; size += 297) {
    writeFileSync(cut, bytes.subarray(0, size));
    assert.match((await read(folder, cut)).join(), /^the archive cannot be read \(/, String(size));
  }
});

test("an entry outside of the folder is refused, and nothing is written there", async (t) => {
  const name = "data/xx/evil";
  const odd = {
    "../../../evil": /invalid relative path/,
    "/tmp////evil": /absolute path/,
    "data\\x..evil": /invalid characters/,
  };
  for (const [other, why] of Object.entries({ ...odd, "./////data/a": /no name of a file/ })) {
    // yazl refuses to write such names
    const whole = `${bagFolder}/${name}`;
    const text = other.padEnd(whole.length, "x");
    const rename = (bytes: Buffer) => Buffer.from(bytes.toString("latin1").replaceAll(whole, text), "latin1");
    const folder = folderOf(t);
    const path = await packed(t, [...tags(), [name, "x"]], rename);
    assert.match((await read(join(folder, "a/b/c/d"), path)).join(), why, other);
    assert.deepEqual(
      readdirSync(folder, { recursive: true }).filter((each) => String(each).includes("evil")),
      [],
    );
  }
  for (const path of ["../x", "a/../../b", "a//b", "./a", "a\\b", "a\nb", "x".repeat(100)])
    assert.ok(!isBundlePath(path), path);
});

test("links, compressed entries, and files of one name are refused", async (t) => {
  for (const [entries, why] of [
    [[["data/a", "/etc/passwd", { mode: 0o120777 }]], /^evidence\/data\/a: it is a link/],
    [[["data/a", "x".repeat(1 << 20), { compress: true }]], /^evidence\/data\/a: it is compressed/],
    [
      [
        ["data/a", "x"],
        ["data/a", "y"],
      ],
      /cannot be read \(EEXIST\)/,
    ],
    [
      [
        ["data/a", "x"],
        ["data/a/b", "y"],
      ],
      /cannot be read \(E(EXIST|NOTDIR)\)/,
    ],
  ] as [Packed[], RegExp][]) {
    const folder = folderOf(t);
    assert.match((await read(folder, await packed(t, [...tags(), ...entries]))).join(), why);
    assert.ok(!existsSync(join(folder, "a")));
  }
});

test("a bomb is refused: entries that share their bytes, and a size that the archive does not hold", async (t) => {
  const text = "x".repeat(10_000);
  const shared = (bytes: Buffer) => {
    const out = Buffer.from(bytes);
    const signature = Buffer.from("504b0102", "hex"); // of an entry in the directory
    let at = out.indexOf(signature);
    const first = out.readUInt32LE(at + 42);
    for (; at >= 0; at = out.indexOf(signature, at + 1)) out.writeUInt32LE(first, at + 42);
    const begin = out.indexOf(signature);
    const end = out.indexOf(Buffer.from("504b0506", "hex"));
    const head = out.subarray(0, first + 30 + 100 + text.length);
    const tail = Buffer.from(out.subarray(begin));
    tail.writeUInt32LE(head.length, end - begin + 16); // where the directory is
    return Buffer.concat([head, tail]);
  };
  const many = Array.from({ length: 50 }, (_, at): Packed => [`data/f${at}`, text]);
  assert.match(
    (await read(folderOf(t), await packed(t, many, shared))).join(),
    /more bytes than the archive/,
  );

  const longer = (bytes: Buffer) => {
    const out = Buffer.from(bytes);
    const at = out.lastIndexOf(Buffer.from("504b0102", "hex"));
    out.writeUInt32LE(0x7fffffff, at + 20);
    out.writeUInt32LE(0x7fffffff, at + 24);
    return out;
  };
  assert.match(
    (await read(folderOf(t), await packed(t, [["data/a", "x"]], longer))).join(),
    /more bytes than the archive/,
  );
});
