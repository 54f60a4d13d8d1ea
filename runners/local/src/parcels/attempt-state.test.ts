// The state of an attempt on its way from a node to the host that submitted, and the gate of model calls.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { goOnFile, waitFile } from "@mlrb/core/ports/attempt-wait";
import { attemptStateAddress, relayErrorHeader } from "@mlrb/core/ports/relay";
import type { AttemptUpdate } from "@mlrb/formats/stage/attempt-state";
import { checkpointParcel, checkpointParcelFile } from "@mlrb/kit/attempts/checkpoint-parcel";
import { attemptFiles } from "./attempt-files.ts";
import { takeUpdate } from "./attempt-state.ts";
import { relayGate } from "./relay-gate.ts";
import { StateRefused, StateSender } from "./state-sender.ts";

function place(t: TestContext, name: string) {
  const folder = mkdtempSync(join(tmpdir(), `mlrb-state-${name}-`));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "out"));
  const outputs = {
    trajectory: join(folder, "out/trajectory.jsonl"),
    attachments: join(folder, "out/attachments"),
  };
  return { folder, trajectory: outputs.trajectory, files: attemptFiles(folder, outputs) };
}

const nothing: AttemptUpdate = { formatVersion: 1, log: "", attachments: [], appended: [], whole: [] };
const file = "out/trajectory.jsonl";

function host(t: TestContext) {
  const at = place(t, "host");
  const take = (some: Partial<AttemptUpdate>) =>
    takeUpdate(JSON.stringify({ ...nothing, ...some }), at.files);
  return { ...at, take, lines: (lines: string, from: number) => take({ appended: [{ file, from, lines }] }) };
}

test("lines are appended once, also if the answer was lost and they come again with more", (t) => {
  const { lines, trajectory } = host(t);
  lines("one\n", 0);
  lines("one\ntwo\n", 0);
  lines("three\n", 8);
  assert.equal(readFileSync(trajectory, "utf8"), "one\ntwo\nthree\n");
});

test("a node with other lines, a gap or half a line is refused, and nothing here changes", (t) => {
  const { lines, trajectory } = host(t);
  lines("one\ntwo\n", 0);
  assert.throws(() => lines("uno\n", 0), /differs from the node's at byte 0/);
  assert.throws(() => lines("four\n", 12), /has 8 bytes here, and the node continues at 12/);
  assert.throws(() => lines("thr", 8), /does not end/);
  assert.equal(readFileSync(trajectory, "utf8"), "one\ntwo\n");
});

test("a last line that was cut off here is replaced by the node's", (t) => {
  const { lines, trajectory } = host(t);
  writeFileSync(trajectory, "one\ntw");
  lines("resumed\n", 4);
  assert.equal(readFileSync(trajectory, "utf8"), "one\nresumed\n");
});

test("a node writes no other files, no wrong attachments, and takes no checkpoint back", (t) => {
  const { take, folder } = host(t);
  const named = { formatVersion: 1, name: "0001", parcel: { digest: "a".repeat(64), bytes: 3 } };
  const other = { appended: [{ file: "../../stolen", from: 0, lines: "x\n" }] };
  assert.throws(() => take(other), /is no append-only file/);
  assert.throws(
    () => take({ whole: [{ file: "out/ledger.json", content: "{}" }] }),
    /no file that a node writes/,
  );
  assert.throws(
    () => take({ whole: [{ file: checkpointParcelFile, content: "{}" }] }),
    /does not name a checkpoint/,
  );
  assert.throws(() => take({ attachments: [{ name: "../x", content: "x" }] }), /not named by its digest/);
  take({
    whole: [
      { file: checkpointParcelFile, content: JSON.stringify(named) },
      { file: waitFile, content: "{}" },
    ],
  });
  take({
    whole: [
      { file: checkpointParcelFile, content: null },
      { file: waitFile, content: null },
    ],
  });
  assert.deepEqual(checkpointParcel(folder), named);
  assert.ok(!existsSync(join(folder, waitFile)));
});

/** A node's folder and the channel to a host that takes its state; `calls` says what the host had at each model call. */
async function bothEnds(t: TestContext) {
  const [here, node] = [host(t), place(t, "node")];
  const socket = join(node.folder, "sock");
  const calls: string[] = [];
  const state = { status: 200 };
  const server = createServer(async (asked, answer) => {
    const body = await text(asked);
    if (asked.url === attemptStateAddress) {
      answer.statusCode = state.status;
      answer.end(state.status === 200 ? takeUpdate(body, here.files) : "no");
    } else {
      calls.push(existsSync(here.trajectory) ? readFileSync(here.trajectory, "utf8") : "");
      answer.end(`answer to ${body}`);
    }
  }).listen(socket);
  await once(server, "listening");
  const sender = new StateSender(node.files, socket);
  const gate = relayGate({ path: join(node.folder, "gate"), to: socket, flush: () => sender.flush() });
  t.after(() => [server, gate].map((one) => one.close()));
  const call = async (): Promise<{ answer: IncomingMessage; said: string }> => {
    const to = {
      socketPath: join(node.folder, "gate"),
      path: "http://model/v1",
      method: "POST",
      agent: false,
    };
    const request = httpRequest(to).end("a question");
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    return { answer, said: await text(answer) };
  };
  return { here, node, sender, call, calls, state };
}

test("a call goes out only once the host has every line that was written before it", async (t) => {
  const { node, here, call, calls } = await bothEnds(t);
  const long = "x".repeat(5_000_000);
  appendFileSync(node.trajectory, `first ${long}\n`);
  assert.equal((await call()).said, "answer to a question");
  appendFileSync(node.trajectory, "second\nhalf a li");
  await call();
  assert.deepEqual(calls, [`first ${long}\n`, `first ${long}\nsecond\n`]);
  mkdirSync(join(node.folder, "out/attachments"));
  const digest = hash("sha256", "a long text");
  writeFileSync(join(node.folder, "out/attachments", digest), "a long text");
  writeFileSync(join(node.folder, "log"), "a line of the log\n");
  await call();
  assert.equal(readFileSync(join(here.folder, "out/attachments", digest), "utf8"), "a long text");
  assert.equal(readFileSync(join(here.folder, "log"), "utf8"), "a line of the log\n");
});

test("while the host does not take the state, a call is answered as by a relay that is away", async (t) => {
  const { node, call, calls, state } = await bothEnds(t);
  appendFileSync(node.trajectory, "one\n");
  state.status = 503;
  assert.equal((await call()).answer.headers[relayErrorHeader], "ECONNREFUSED");
  assert.deepEqual(calls, []);
  state.status = 200;
  await call();
  assert.deepEqual(calls, ["one\n"]);
});

test("a refused state is told apart, and orders of people reach the node and are taken back", async (t) => {
  const { node, here, sender, state } = await bothEnds(t);
  writeFileSync(join(here.folder, goOnFile), "1");
  await sender.flush();
  assert.equal(readFileSync(join(node.folder, goOnFile), "utf8"), "1");
  rmSync(join(here.folder, goOnFile));
  await sender.flush();
  assert.ok(!existsSync(join(node.folder, goOnFile)));
  state.status = 409;
  await assert.rejects(sender.flush(), StateRefused);
});
