// What an editor shows for the YAML files that people write, by the language server that editors use for YAML.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

const repository = join(import.meta.dirname, "..");
const server = spawn(
  process.execPath,
  [join(repository, "tests/node_modules/yaml-language-server/bin/yaml-language-server"), "--stdio"],
  { stdio: ["pipe", "pipe", "inherit"] },
);
after(() => server.kill());

type Message = { id?: number; method?: string; params?: unknown; result?: unknown };
type Diagnostic = { message: string; range: { start: { line: number } } };

/** Diagnostics by the address of the file; each waits for its first. */
const diagnosed = new Map<string, PromiseWithResolvers<Diagnostic[]>>();
const answers = new Map<number, (result: unknown) => void>();
let unread = Buffer.alloc(0);
server.stdout.on("data", (piece: Buffer) => {
  unread = Buffer.concat([unread, piece]);
  for (;;) {
    const header = /^Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(unread.toString("latin1"));
    if (!header) return;
    const end = header[0].length + Number(header[1]);
    if (unread.length < end) return;
    take(JSON.parse(unread.subarray(header[0].length, end).toString()) as Message);
    unread = unread.subarray(end);
  }
});

function take({ id, method, params, result }: Message): void {
  if (method === "textDocument/publishDiagnostics") {
    const { uri, diagnostics } = params as { uri: string; diagnostics: Diagnostic[] };
    waitFor(uri).resolve(diagnostics);
  } else if (method !== undefined && id !== undefined) send({ id, result: null });
  else if (id !== undefined) answers.get(id)?.(result);
}

function waitFor(uri: string): PromiseWithResolvers<Diagnostic[]> {
  const known = diagnosed.get(uri) ?? Promise.withResolvers<Diagnostic[]>();
  diagnosed.set(uri, known);
  return known;
}

function send(message: Message): void {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

let asked = 0;
function ask(method: string, params: unknown): Promise<unknown> {
  const id = ++asked;
  send({ id, method, params });
  return new Promise((resolve) => answers.set(id, resolve));
}

/** Opens `text` as the content of a file of the repository, which need not exist. Its problems. */
function open(file: string, text = readFileSync(join(repository, file), "utf8")): Promise<Diagnostic[]> {
  const uri = pathToFileURL(join(repository, file)).href;
  send({
    method: "textDocument/didOpen",
    params: { textDocument: { uri, languageId: "yaml", version: 1, text } },
  });
  return waitFor(uri).promise;
}

await ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
send({ method: "initialized", params: {} });

const files = globSync(
  [
    "tasks/*/task.yaml",
    "scorers/*/scorer.yaml",
    "runners/agents/presets/*.yaml",
    "pipelines/*.yaml",
    "sources/*.yaml",
  ],
  { cwd: repository },
).sort();

test("the editor finds the schema of every file that people write, and no problem in it", async () => {
  assert.ok(files.length > 60, `${files.length}`);
  for (const file of files) {
    const [first] = readFileSync(join(repository, file), "utf8").split("\n");
    assert.match(first!, /^# yaml-language-server: \$schema=\S+\.schema\.json$/, file);
  }
  const problems = await Promise.all(files.map(async (file) => ({ file, found: await open(file) })));
  assert.deepEqual(
    problems.filter(({ found }) => found.length > 0),
    [],
  );
});

test("the editor marks an unknown field and a wrong value in their lines", async () => {
  const text = readFileSync(join(repository, "scorers/bleu/scorer.yaml"), "utf8");
  const lines = text.replace("direction: higher", "direction: up").trimEnd().split("\n");
  const found = await open("scorers/wrong/scorer.yaml", [...lines, "colour: red", ""].join("\n"));
  const wrongLines = [lines.indexOf("direction: up"), lines.length];
  assert.deepEqual([...new Set(found.map(({ range }) => range.start.line))].sort(), wrongLines.sort());
});

test("the editor explains a field", async () => {
  const file = "tasks/baby-lm/task.yaml";
  const line = readFileSync(join(repository, file), "utf8")
    .split("\n")
    .findIndex((text) => text.startsWith("primary:"));
  const shown = (await ask("textDocument/hover", {
    textDocument: { uri: pathToFileURL(join(repository, file)).href },
    position: { line, character: 2 },
  })) as { contents: { value: string } };
  assert.match(shown.contents.value, /for each kind of data: the scorer that decides/);
});
