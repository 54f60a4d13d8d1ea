// The readers of what strangers wrote besides a submission, each as a function from bytes to an answer: attempts
// with their trajectories and attachments, imported records, results of stages in walls, and answers of providers.
import { hash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnswerReader } from "@mlrb/agents/gateway/answer/heard-answer";
import { readAnthropic } from "@mlrb/agents/gateway/answer/read-anthropic";
import { readGoogle } from "@mlrb/agents/gateway/answer/read-google";
import { readOpenaiChat, readOpenaiResponses } from "@mlrb/agents/gateway/answer/read-openai";
import { parsedJson } from "@mlrb/agents/model/json-text";
import { streamBlocks } from "@mlrb/agents/model/stream-blocks";
import { attachmentsIn, wholeText } from "@mlrb/agents/record/attachments";
import { readRecording } from "@mlrb/agents/record/recording";
import { researchOfAttempt } from "@mlrb/agents/record/research-of-attempt";
import { actionKey } from "@mlrb/core/key/action-key";
import { attemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { mustFollow } from "@mlrb/formats/read-format";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import type { FuzzTarget } from "@mlrb/kit/admission/testing/fuzz-targets";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { canonicalJson } from "@mlrb/kit/json-file";
import { readImported } from "@mlrb/local/records/archives/read-imported";
import { Store } from "@mlrb/local/store/artifact-store";
import { exampleParts, exampleRecord } from "@mlrb/local/testing/example-record";
import { atif } from "@mlrb/report/exports/atif";
import { inspectLog } from "@mlrb/report/exports/inspect-log";
import { trajectoryLines } from "@mlrb/report/exports/trajectory-lines";
import {
  parseCheckpoint,
  parseKinship,
  parseReferences,
  parseVerdict,
} from "@mlrb/report/read/parse-artifacts";
import { parseSamples } from "@mlrb/report/read/samples/parse-samples";
import { attemptStory } from "@mlrb/report/story/attempt-story";
import { storyText } from "@mlrb/report/story/story-text";
import { everyEvent, exampleAttempt, exampleLines, modelCall } from "@mlrb/report/testing/attempt-example";

type Target = Omit<FuzzTarget, "answer"> & { answer: (bytes: Uint8Array) => Promise<string> };

const words = [
  ...[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "\n",
    "\\ud800",
    "\\u0000",
    "null",
    "true",
    "-1",
    "1e308",
    "0.5",
  ],
  ...[
    '""',
    "[]",
    "{}",
    '"__proto__":',
    "[[[[[[[[",
    '{"toString":1}',
    '"../../outside"',
    "9".repeat(40),
    "\u2028",
    "\xff",
  ],
];
const eventWords = [
  ...words,
  ...['"event":', '"by":"worker-1",', '"text":{"head":"a","digest":"b","bytes":1}', '"sinceStartMs":-5,'],
  ...['"time":"9999-12-31T23:59:59Z",', '"call":1e300,', '"id":"c1",', '"line":"{\\"id\\":1e400}",'],
  '"input":"{\\"command\\":[{\\"toString\\":1}]}"',
  '"result":{"kind":"exited","code":{"toString":1}}',
];
const bytesOf = (texts: string[]) => texts.map((text) => Buffer.from(text));

/** Messages of a program that did not expect its input. */
const unexpected =
  /Cannot (read|set|convert)|is not (a function|iterable|defined)|call stack|Invalid (array|string) length/;

/** `close` removes their folder. */
export function attemptFuzzTargets(): { targets: Target[]; close: () => void } {
  const root = mkdtempSync(join(tmpdir(), "fuzz-attempts-"));
  return {
    targets: [
      attempts(join(root, "attempt")),
      records(join(root, "records")),
      results(),
      ...["whole", "as events"].flatMap((how) =>
        Object.entries(providers).map(([name, one]) => provider(`${name}, ${how}`, one, how === "as events")),
      ),
    ],
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** An attempt whose hash chain fits whatever its lines say: everyone can compute it. */
function attempts(folder: string): Target {
  const [path, ledger] = [join(folder, "trajectory.jsonl"), join(folder, "ledger.json")];
  const attachments = new Map<string, string>();
  const honest = [
    [...exampleLines(everyEvent(attachments))].join(""),
    [
      ...exampleLines([
        exampleEvent("start", { kind: "llm" }),
        modelCall(1, {
          text: "a".repeat(20),
          toolCalls: [{ id: "c", name: "shell", input: "{}", malformed: false }],
        }),
        exampleEvent("iteration"),
        exampleEvent("end"),
      ]),
    ].join(""),
  ];
  mkdirSync(join(folder, "snapshots"), { recursive: true });
  writeFileSync(join(folder, "snapshots/index.json"), JSON.stringify({ formatVersion: 1, snapshots: [] }));
  writeFileSync(
    join(folder, "admission.json"),
    JSON.stringify({ formatVersion: 1, admitted: true, reasons: [] }),
  );
  const kept = attachmentsIn(join(folder, "attachments"));
  for (const text of attachments.values()) kept.shorten(text);
  let remove = () => {};
  const example = exampleAttempt((one) => (remove = one), []);
  remove();
  const source = {
    ...example,
    lines: () => trajectoryLines(path),
    whole: (text: Parameters<typeof wholeText>[0]) => {
      const found = wholeText(text, join(folder, "attachments"));
      return { text: found.text, missing: found.whole ? null : "a part is missing" };
    },
  };
  const answer = async (bytes: Uint8Array) => {
    const { text, lines, head } = chained(bytes);
    writeFileSync(path, text);
    writeFileSync(ledger, JSON.stringify(exampleLedger({ trajectory: { lines, head } })));
    const files = { trajectory: path, ledger, snapshots: join(folder, "snapshots") };
    const written = [atif(source), inspectLog([source])].map((pieces) => [...pieces].join(""));
    for (const one of written) JSON.parse(one);
    return JSON.stringify([
      await verifyTrajectory(path, { lines, head }),
      await researchOfAttempt(
        { ...files, admission: join(folder, "admission.json") },
        { publicNames: ["blimp", "hello"] },
      ),
      await readRecording(folder),
      storyText(attemptStory(source, { full: true }), { width: 80, color: false, full: true }),
      ...written,
    ]);
  };
  return { name: "attempts", honest: bytesOf(honest), words: eventWords, answer };
}

function chained(bytes: Uint8Array): { text: Buffer; lines: number; head: string } {
  let head = "0".repeat(64);
  const lines = Buffer.from(bytes)
    .toString("latin1")
    .replace(/\n$/, "")
    .split("\n")
    .map((line, index) => {
      const place = `"formatVersion":1,"index":${index},"previous":"${head}"}`;
      const whole = Buffer.from(line.replace(/\}$/, `,${place}`), "latin1");
      head = hash("sha256", whole);
      return whole;
    });
  const text = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
  return { text, lines: lines.length, head };
}

/** A record whose name is its digest. */
function records(folder: string): Target {
  mkdirSync(folder, { recursive: true });
  const store = new Store(join(folder, "store"));
  const record = { ...exampleRecord, attemptKey: actionKey(exampleParts) };
  const digest = hash("sha256", "a");
  const outputs = { submission: { kind: "file", file: "submission", digest, size: 1 } };
  writeFileSync(join(folder, "submission"), "a");
  return {
    name: "imported records",
    honest: bytesOf([record, { ...record, outputs }].map((one) => canonicalJson(one, 2))),
    words: [...words, '"file":', '"kind":"dir"', '"startedAt":"2026"', '"outputs":', '"file":"../x"'],
    async answer(bytes) {
      writeFileSync(join(folder, "record.json"), bytes);
      const parse = (text: string) => mustFollow(attemptRecord, JSON.parse(text), "record.json");
      const now = new Date("2026-06-01T00:00:00Z");
      const read = readImported(folder, hash("sha256", bytes), { now, parse, store });
      if ("problem" in read && unexpected.test(read.problem)) throw new Error(read.problem);
      return JSON.stringify(read);
    },
  };
}

/** Results that the report reads: stages in walls wrote them, whose program an agent's files may have taken over. */
function results(): Target {
  const rule = { rule: "r", title: "t", severity: "disqualify", answer: "pass", detail: "d" };
  return {
    name: "results of stages",
    honest: bytesOf([
      '{"id":"a","value":1,"weight":2,"group":"g"}\n{"id":"b","value":2,"weight":1}\n',
      JSON.stringify({ formatVersion: 1, kind: "pass", rules: [rule], facts: {} }),
      JSON.stringify({ formatVersion: 1, attempts: [{ agent: "a", seed: 1, rules: [rule] }] }),
      JSON.stringify({ formatVersion: 1, stood: { kind: "none" }, admitted: false, reasons: [] }),
      JSON.stringify({ formatVersion: 1, scorer: "s", rows: [{ name: "a", title: "t", value: 1 }] }),
    ]),
    words: [...words, '"kind":"fail"', '"standardError":', '"id":', '"cluster":"c",'],
    async answer(bytes) {
      const text = Buffer.from(bytes).toString();
      const readers = [parseSamples, parseVerdict, parseKinship, parseCheckpoint];
      return JSON.stringify([...readers.map((read) => read(text)), parseReferences(text, "s")]);
    },
  };
}

type Provider = { reader: () => AnswerReader; honest: object[]; words: string[] };

const providers: Record<string, Provider> = {
  "Anthropic's answers": {
    reader: readAnthropic,
    honest: [
      {
        type: "message",
        model: "m",
        stop_reason: "tool_use",
        usage: { input_tokens: 3, output_tokens: 2 },
        content: [
          { type: "text", text: "hello" },
          { type: "tool_use", id: "1", name: "shell", input: { command: "ls" } },
        ],
      },
      { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "1", name: "shell" } },
      { type: "content_block_delta", index: 1, delta: { partial_json: '{"a"' } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
      { type: "error", error: { message: "overloaded" } },
    ],
    words: [
      '"usage":',
      '"speed":"fast",',
      '"iterations":[{"type":"x"}],',
      '"index":1e9,',
      '"type":"message"',
    ],
  },
  "OpenAI's chat answers": {
    reader: readOpenaiChat,
    honest: [
      {
        ...{ model: "m", usage: { prompt_tokens: 3, completion_tokens: 2 } },
        choices: [
          { finish_reason: "stop", message: { content: "hello", tool_calls: [{ id: "1", index: 0 }] } },
        ],
      },
      { choices: [{ delta: { content: "a", tool_calls: [{ index: 1, function: { arguments: "{" } }] } }] },
      { error: { message: "overloaded" } },
    ],
    words: ['"usage":', '"choices":', '"tool_calls":[{"function":{"name":"a"}}],', '"annotations":[{}],'],
  },
  "OpenAI's responses": {
    reader: readOpenaiResponses,
    honest: [
      {
        object: "response",
        status: "completed",
        model: "m",
        usage: { input_tokens: 3, output_tokens: 2 },
        output: [
          { type: "message", content: [{ type: "output_text", text: "hello" }] },
          { type: "function_call", call_id: "1", name: "shell", arguments: "{}" },
          { type: "local_shell_call", call_id: "2", action: { command: ["ls"] } },
          { type: "reasoning", summary: [{ text: "because" }] },
        ],
      },
      { type: "response.output_text.delta", delta: "a" },
      { type: "response.failed", response: { status: "failed", error: {} } },
    ],
    words: ['"output":', '"type":"web_search_call",', '"type":"response.completed"', '"status":"failed",'],
  },
  "Google's answers": {
    reader: readGoogle,
    honest: [
      {
        ...{ modelVersion: "m", usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } },
        candidates: [
          {
            finishReason: "STOP",
            content: { parts: [{ text: "hello" }, { functionCall: { name: "shell", args: { a: 1 } } }] },
          },
        ],
      },
      { candidates: [{ content: { parts: [{ text: "x", thought: true }] } }] },
      { promptFeedback: { blockReason: "SAFETY" } },
      { error: { message: "overloaded" } },
    ],
    words: ['"usageMetadata":', '"thoughtsTokenCount":1.5,', '"args":[1],', '"webSearchQueries":["a"],'],
  },
};

/** Events arrive in any pieces: where the bytes are cut must not change what was heard. */
function provider(name: string, { reader: open, honest, words: own }: Provider, events: boolean): Target {
  const heardOf = (values: Iterable<string>) => {
    const reader = open();
    for (const text of values) {
      const value = parsedJson(text);
      if (value !== undefined) reader.take(value);
    }
    const heard = reader.heard();
    for (const count of [heard.usage?.inputTokens ?? 0, heard.usage?.outputTokens ?? 0])
      if (count < 0 || (Number.isFinite(count) && !Number.isInteger(count)))
        throw new Error(`${count} tokens`);
    return JSON.stringify(heard);
  };
  const inPieces = (bytes: Buffer, size: number) => {
    const blocks = streamBlocks();
    const found: string[] = [];
    const sent: Buffer[] = [];
    const take = (block: { bytes: Buffer; data: string }) => {
      found.push(block.data);
      sent.push(block.bytes);
    };
    for (let from = 0; from < bytes.length; from += size)
      blocks.take(bytes.subarray(from, from + size)).forEach(take);
    const last = blocks.end();
    if (last) take(last);
    if (!Buffer.concat(sent).equals(bytes))
      throw new Error("the program gets other bytes than the provider sent");
    return heardOf(found);
  };
  const texts = honest.map((one) => JSON.stringify(one));
  const stream = texts.map((text) => `event: x\ndata: ${text}\n\n`).join("");
  return {
    name,
    honest: bytesOf(events ? [stream, stream.replaceAll("\n", "\r\n")] : texts),
    words: [
      ...words,
      ...own,
      ...(events ? ["\n\n", "\r", "data:", "data: [DONE]\n\n", ": ping\n", "\ufeff"] : []),
    ],
    async answer(bytes) {
      const given = Buffer.from(bytes);
      if (!events) return heardOf([given.toString()]);
      const whole = inPieces(given, given.length || 1);
      for (const size of [1, 7]) {
        const pieces = inPieces(given, size);
        if (pieces !== whole) throw new Error(`in pieces of ${size} bytes: ${pieces}; whole: ${whole}`);
      }
      return whole;
    },
  };
}
