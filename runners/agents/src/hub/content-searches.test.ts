import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { execa } from "execa";
import { storedZip } from "../../../../tests/support/servers/wheel.ts";
import { ContentSearches } from "./content-searches.ts";
import { DownloadCache } from "./download-cache.ts";

/** `program` in place of the search; `log` is the path of a file that it may write. */
function lab(t: TestContext, program: (log: string) => string) {
  const folder = mkdtempSync(join(tmpdir(), "content-searches-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const cache = new DownloadCache(join(folder, "cache"), { fileBytesMax: 1 << 20, freeBytesMin: 0 });
  const [withheld, script, log] = ["withheld.json", "search.mjs", "log"].map((name) => join(folder, name));
  writeFileSync(withheld!, "{}");
  writeFileSync(script!, `import { appendFileSync, readFileSync } from "node:fs";\n${program(log!)}`);
  appendFileSync(log!, "");
  const end = new AbortController();
  const searches = () => new ContentSearches(withheld!, script!);
  const search = (digest: string, by = searches()) =>
    by.answer({ path: log!, digest, bytes: 0, cached: true }, { cache, strict: true, signal: end.signal });
  const lines = () => readFileSync(log!, "utf8").split("\n").slice(0, -1);
  const left = () => readdirSync(join(folder, "cache/partial"));
  return { cache, withheld: withheld!, end, searches, search, lines, left };
}

const answered = `console.log(JSON.stringify({ kind: "searched", rows: 0 }));`;

test("a search that was killed or failed is repeated, and one with an answer is not", async (t) => {
  const { search, lines, left, withheld } = lab(
    t,
    (log) => `appendFileSync("${log}", "run\\n");
const run = readFileSync("${log}", "utf8").length / 4;
if (run === 1) process.kill(process.pid, "SIGKILL");
if (run === 2) throw new Error("ENOSPC: of this host");
${answered}`,
  );
  const refused = { why: "unreadable", message: /: the search ended without an answer$/ };
  await assert.rejects(search("a"), refused);
  await assert.rejects(search("a"), refused);
  assert.deepEqual(await search("a"), { kind: "searched", rows: 0 });
  assert.deepEqual(await search("a"), { kind: "searched", rows: 0 });
  assert.equal(lines().length, 3);
  writeFileSync(withheld, "{ }");
  await search("a");
  assert.equal(lines().length, 4, "other rows are another search");
  assert.deepEqual(left(), []);
});

test("two searches run at once, and equal requests share one", async (t) => {
  const { searches, search, lines } = lab(
    t,
    (log) => `appendFileSync("${log}", "begin\\n");
await new Promise((done) => setTimeout(done, 100));
appendFileSync("${log}", "end\\n");
${answered}`,
  );
  const all = searches();
  await Promise.all(["a", "a", "b", "c", "d", "a"].map((digest) => search(digest, all)));
  let running = 0;
  const at = lines().map((line) => (running += line === "begin" ? 1 : -1));
  assert.equal(at.length, 8);
  assert.equal(Math.max(...at), 2);
});

test("the end of the attempt stops searches, and those that wait do not begin", async (t) => {
  const { searches, search, lines, end, left } = lab(
    t,
    (log) => `appendFileSync("${log}", process.pid + "\\n"); setTimeout(() => {}, 60_000);`,
  );
  const all = searches();
  const ends = ["a", "b", "c"].map((digest) => assert.rejects(search(digest, all), /over/));
  while (lines().length < 2) await new Promise((done) => setTimeout(done, 20));
  end.abort(new Error("over"));
  await Promise.all(ends);
  assert.equal(lines().length, 2);
  for (const pid of lines()) assert.throws(() => process.kill(Number(pid), 0), /ESRCH/);
  assert.deepEqual(left(), []);
});

test("no search begins on a full disk, and a search that fills it is stopped and not kept", async (t) => {
  const { search, lines, cache } = lab(
    t,
    (log) => `appendFileSync("${log}", "run\\n"); setTimeout(() => {}, 60_000);`,
  );
  let isFull = true;
  const full = t.mock.method(cache, "checkFree", async () => {
    if (isFull) throw new Error("full");
  });
  await assert.rejects(search("a"), /full/);
  assert.equal(lines().length, 0);
  isFull = false;
  const searching = assert.rejects(search("a"), /full/);
  while (lines().length === 0) await new Promise((done) => setTimeout(done, 20));
  isFull = true;
  await searching;
  assert.ok(full.mock.callCount() > 2);
  assert.deepEqual(readdirSync(join(cache.folder, "searched")), []);
});

test("a damaged file is an answer without a library's text, and a scratch folder that is not there is none", async (t) => {
  const { withheld } = lab(t, () => "");
  writeFileSync(
    withheld,
    JSON.stringify({ formatVersion: 1, sources: [], digests: [], texts: [], rows: [] }),
  );
  const file = `${withheld}.gz`;
  const run = (content: Buffer) => {
    writeFileSync(file, content);
    const program = join(import.meta.dirname, "contents/search-file.ts");
    return execa("node", [program, withheld, file, join(withheld, "none"), "strict", "1000"], {
      reject: false,
    });
  };
  const packed = gzipSync(storedZip({ "a.txt": Buffer.from("words") }));
  const damaged = await run(Buffer.concat([packed.subarray(0, 10), Buffer.alloc(30, 7)]));
  assert.deepEqual(JSON.parse(damaged.stdout), { kind: "unreadable", detail: "it is damaged" });
  const failed = await run(packed);
  assert.deepEqual([failed.exitCode, failed.stdout], [1, ""]);
});
