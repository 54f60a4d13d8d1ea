import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopbackIndex } from "../../../../tests/support/servers/loopback-index.ts";
import { filesOfHtml, filesOfJson, indexPage, PackageIndex } from "./package-index.ts";

const base = new URL("https://index.example/simple/a/");
const digest = "a".repeat(64);

test("a page in HTML and the same page in JSON give the same files", () => {
  const html = `<a href="../../files/a-1.whl#sha256=${digest}" data-requires-python="&gt;=3.8" data-yanked="broken"
    data-core-metadata="sha256=${digest}">a-1.whl</a>`;
  const json = {
    files: [
      {
        ...{ filename: "a-1.whl", url: "../../files/a-1.whl", hashes: { sha256: digest }, yanked: "broken" },
        ...{ "requires-python": ">=3.8", "core-metadata": { sha256: digest } },
      },
    ],
  };
  assert.deepEqual(filesOfHtml(html, base), filesOfJson(JSON.stringify(json), base));
  assert.equal(filesOfHtml(html, base)[0]?.url, "https://index.example/files/a-1.whl");
});

test("a file without a SHA-256 is left out, and malformed entries too", () => {
  assert.deepEqual(filesOfHtml('<a href="x.whl">x</a><a href="y.whl#md5=1">y</a><a>z</a>', base), []);
  const files = [
    { filename: "a", url: "a", hashes: {} },
    null,
    { filename: 1 },
    { filename: "b", url: "http://[", hashes: { sha256: digest } },
  ];
  assert.deepEqual(filesOfJson(JSON.stringify({ files }), base), []);
  assert.deepEqual(filesOfJson("[]", base), []);
});

test("the page for programs leads only to the gateway, and no text of the index is markup in it", () => {
  const file = {
    name: `a"><script>-1.whl`,
    url: "https://elsewhere.example/x",
    sha256: digest,
    requiresPython: `">x`,
  };
  const page = indexPage("a", [file]);
  assert.doesNotMatch(page, /elsewhere|<script>|">x/);
  assert.match(page, /href="\/-\/packages\/a\/a%22%3E%3Cscript%3E-1\.whl#sha256=a{64}"/);
});

test("equal requests share one page, and of many pages the last fifty are kept", async (t) => {
  const server = await new LoopbackIndex().start();
  t.after(() => server.close());
  const names = Array.from({ length: 51 }, (_, number) => `p${number}`);
  for (const name of names) server.packages.set(name, [{ file: `${name}.whl`, content: Buffer.from(name) }]);
  const index = new PackageIndex(server.address, new AbortController().signal);
  const [one, two] = await Promise.all([index.files("p0"), index.files("p0")]);
  assert.deepEqual(one, two);
  for (const name of names) await index.file(name, `${name}.whl`);
  assert.equal(server.requests.length, 51);
  await index.file("p50", "p50.whl");
  assert.equal(server.requests.length, 51);
  await index.file("p0", "p0.whl");
  assert.equal(server.requests.length, 52);
  await assert.rejects(index.files("none"), /answered 404/);
});
