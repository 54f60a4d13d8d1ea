// Checks the provider's double, on which other tests rely.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  LOOPBACK_KEY,
  type LoopbackProvider,
  type Reply,
  startLoopbackProvider,
} from "./loopback-provider.ts";

const open: LoopbackProvider[] = [];
after(() => Promise.all(open.map((one) => one.close())));

async function provider(...script: Reply[]): Promise<LoopbackProvider> {
  const started = await startLoopbackProvider({ script });
  open.push(started);
  return started;
}

const paths = { chat: "/v1/chat/completions", responses: "/v1/responses", anthropic: "/v1/messages" };

function post(url: string, path: string, body: object, key = LOOPBACK_KEY): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}`, "x-api-key": key };
  return fetch(url + path, { method: "POST", headers, body: JSON.stringify({ model: "m", ...body }) });
}

for (const [protocol, path] of Object.entries(paths)) {
  const hello =
    protocol === "responses" ? { input: "hello" } : { messages: [{ role: "user", content: "hello" }] };

  test(`${protocol}: a streamed answer equals an answer that is not streamed`, async () => {
    const reply = { text: "one two three four five six seven", toolCalls: [{ name: "t", input: { a: 1 } }] };
    const { url, seen } = await provider(reply, reply);
    const plain = await (await post(url, path, hello)).text();
    const streamed = await (await post(url, path, { ...hello, stream: true })).text();
    assert.ok(plain.includes("one two three four five six seven"));
    const said = [...streamed.matchAll(/"(?:content|delta|text)":"([^"]+)"/gu)]
      .map((match) => match[1])
      .join("");
    assert.ok(said.includes("one two three four five six seven"), streamed);
    assert.deepEqual(
      seen.map(({ protocol: spoken, stream, messages }) => ({
        stream,
        messages,
        same: spoken === seen[0]!.protocol,
      })),
      [false, true].map((stream) => ({ stream, messages: [{ role: "user", text: "hello" }], same: true })),
    );
  });

  test(`${protocol}: a wrong key is refused and its request not counted`, async () => {
    const { url, seen, turnedAway } = await provider({ text: "never" });
    const answer = await post(url, path, hello, "wrong");
    assert.equal(answer.status, 401);
    assert.match(await answer.text(), /key/u);
    assert.deepEqual([seen.length, turnedAway()], [0, 1]);
  });

  test(`${protocol}: after the last reply of a script a request is a bad request`, async () => {
    const { url } = await provider();
    const answer = await post(url, path, hello);
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /the script has no reply 0/u);
  });

  test(`${protocol}: a cut stream breaks off, and a truncated stream seems complete`, async () => {
    const { url } = await provider({ text: "abc", cut: 40 }, { text: "abc", truncate: 40 });
    const cut = await post(url, path, { ...hello, stream: true });
    await assert.rejects(cut.text());
    const truncated = await post(url, path, { ...hello, stream: true });
    assert.equal((await truncated.text()).length, 40);
  });
}

test("a reset has no answer, and a rate limit has a time to wait", async () => {
  const { url } = await provider({ reset: true }, { status: 429, retryAfterMs: 1500 });
  const body = { messages: [] };
  await assert.rejects(post(url, paths.chat, body));
  const limited = await post(url, paths.anthropic, body);
  assert.deepEqual([limited.status, limited.headers.get("retry-after")], [429, "2"]);
  assert.equal(((await limited.json()) as { error: { type: string } }).error.type, "rate_limit_error");
});

test("as a program it serves a script from a file and logs requests", async () => {
  const folder = mkdtempSync(join(tmpdir(), "loopback-"));
  const [script, log] = [join(folder, "script.json"), join(folder, "log.jsonl")];
  writeFileSync(script, JSON.stringify([{ text: "from a file" }]));
  const program = fileURLToPath(new URL("./loopback-provider.ts", import.meta.url));
  const child = spawn(process.execPath, [program, script, log], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const answer = await post(line.toString().trim(), paths.chat, {
      messages: [{ role: "user", content: "x" }],
    });
    assert.match(await answer.text(), /from a file/u);
    assert.equal(JSON.parse(readFileSync(log, "utf8")).messages[0].text, "x");
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
