// make.py makes equal fingerprints from a folder and from a hub that speaks ranges, and refuses what it cannot make.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fingerprintFile } from "@mlrb/formats/judged/fingerprint";
import { mustFollow } from "@mlrb/formats/read-format";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { readJson } from "@mlrb/kit/json-file";
import { $ } from "zx";

const repository = join(import.meta.dirname, "..");
const above = mkdtempSync(join(tmpdir(), "mlrb-fingerprints-"));
after(() => removeFolder(above));
const output = join(above, "made");
mkdirSync(output);

const python = process.env.MLRB_PYTHON!;
const program = join(repository, "tasks/known-weights/make.py");
const make = (model: string, env: Record<string, string> = {}, more: string[] = []) =>
  $({
    nothrow: true,
    quiet: true,
    env: { PATH: process.env.PATH!, ...env },
  })`${python} -B ${program} ${model} --licence MIT --output ${output} ${more}`;

/** A model of one matrix, 64 x 48, whose values follow no simple law. */
function modelFile(): Buffer {
  const values = Float32Array.from({ length: 64 * 48 }, (_, at) => Math.sin(at * at + 0.3));
  const entry = { dtype: "F32", shape: [64, 48], data_offsets: [0, values.byteLength] };
  const header = Buffer.from(JSON.stringify({ "layer.weight": entry }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.from(values.buffer)]);
}

const folder = join(above, "local");
mkdirSync(folder);
writeFileSync(join(folder, "model.safetensors"), modelFile());

test("a model on a hub is read by ranges at its revision, with the token, and has the fingerprint of its file", async () => {
  const asked: string[] = [];
  const content = modelFile();
  const hub = createServer((request, answer) => {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    asked.push(`${request.url} ${request.headers.authorization}`);
    if (request.url !== "/owner/distant/resolve/v2/model.safetensors") answer.writeHead(404).end();
    else if (from === undefined) answer.writeHead(500).end();
    else answer.writeHead(206).end(content.subarray(Number(from), Number(to) + 1));
  });
  await new Promise<void>((done) => hub.listen(0, "127.0.0.1", done));
  const { port } = hub.address() as AddressInfo;
  const env = { HF_ENDPOINT: `http://127.0.0.1:${port}`, HF_TOKEN: "hf_secret" };
  const distant = await make("owner/distant@v2", env);
  const absent = await make("owner/absent", env);
  hub.close();
  assert.equal(distant.exitCode, 0, distant.stderr);
  assert.equal(absent.exitCode, 1);
  assert.match(absent.stderr, /owner\/absent\/resolve\/main\/model\.safetensors: 404/);
  assert.ok(asked.every((one) => one.endsWith(" Bearer hf_secret")));
  assert.doesNotMatch(distant.stderr + distant.stdout + absent.stderr, /hf_secret/);
  assert.deepEqual(readdirSync(output), ["distant.json"]);

  const near = await make(folder, {}, ["--source", "made by hand, 2026"]);
  assert.equal(near.exitCode, 0, near.stderr);
  assert.equal(near.stdout.trim(), join(output, "local.json"));
  const [ofHub, ofFolder] = ["distant", "local"].map((name) => {
    const file = join(output, `${name}.json`);
    return mustFollow(fingerprintFile, readJson(file), file);
  });
  assert.equal(ofHub!.source, "hub owner/distant@v2");
  assert.deepEqual(
    [ofFolder!.name, ofFolder!.source, ofFolder!.licence],
    ["local", "made by hand, 2026", "MIT"],
  );
  assert.equal(ofFolder!.tensors.length, 1);
  assert.deepEqual(ofHub!.tensors, ofFolder!.tensors);

  const before = readFileSync(join(output, "local.json"), "utf8");
  const again = await make(folder, {}, ["--source", "another"]);
  assert.equal(again.exitCode, 2);
  assert.match(again.stderr, /local\.json exists/);
  assert.equal(readFileSync(join(output, "local.json"), "utf8"), before);
});

test("a folder of unknown origin and a name of no model are refused, and leave no file", async () => {
  const unknown = await make(folder);
  assert.equal(unknown.exitCode, 2);
  assert.match(unknown.stderr, /nothing says where the weights in .*local come from/);
  const nowhere = await make("nowhere", { HF_ENDPOINT: "http://127.0.0.1:9" });
  assert.notEqual(nowhere.exitCode, 0);
  assert.ok(!existsSync(join(output, "nowhere.json")));
});
