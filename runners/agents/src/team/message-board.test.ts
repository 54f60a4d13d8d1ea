import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { plainSandbox } from "../sandbox/plain-sandbox.ts";
import type { BoardMessage } from "../scaffold/scaffold.ts";
import { BoardFiles } from "./board-files.ts";
import { boardLimits, MessageBoard } from "./message-board.ts";

const names = ["a", "b", "c"];
const message = (from: string, to: string, text: string): BoardMessage => ({
  from,
  to,
  purpose: "message",
  text,
});

function board(earlier: BoardMessage[] = []) {
  const events: TrajectoryEvent[] = [];
  const write = (event: TrajectoryEvent) => void events.push(event);
  return { events, board: new MessageBoard({ members: names, earlier, write }) };
}

test("each member receives what is for it or for all others, in the order of the board", () => {
  const { board: one, events } = board([message("c", "a", "0")]);
  assert.equal(one.send(message("a", "all", "1")), undefined);
  assert.equal(one.send(message("b", "a", "2")), undefined);
  assert.equal(one.send(message("b", "all", "3")), undefined);
  const texts = (name: string) => one.receivedBy(name).map(({ text }) => text);
  assert.deepEqual(names.map(texts), [["0", "2", "3"], ["1"], ["1", "3"]]);
  assert.equal(events.length, 3, "earlier ones are recorded already");
});

test("a message is recorded before anyone can read it, and one that cannot be recorded is not sent", () => {
  const write = () => {
    throw new Error("no space left");
  };
  const one = new MessageBoard({ members: names, earlier: [], write });
  assert.throws(() => one.send(message("a", "b", "x")), /no space/);
  assert.deepEqual(one.receivedBy("b"), []);
});

test("messages are bounded in size and number, and so are recorded refusals", () => {
  const { messageBytes, messagesMax, refusalsMax } = boardLimits;
  const many = Array.from({ length: messagesMax - 1 }, () => message("a", "b", ""));
  const { board: one, events } = board(many);
  assert.match(one.send(message("a", "b", "é".repeat(messageBytes / 2 + 1)))!, /may have 16384 bytes/);
  assert.equal(one.send(message("a", "b", "x".repeat(messageBytes))), undefined);
  assert.match(one.send(message("a", "b", "x"))!, /has sent its 10000 messages/);
  for (let count = 0; count < refusalsMax + 5; count++) one.refused("a", "why");
  const refusals = events.filter(({ event }) => event === "board-refused");
  assert.equal(refusals.length, refusalsMax);
  assert.match(JSON.stringify(refusals.at(-1)), /further refusals are not recorded/);
});

test("a member is woken by its own messages only, by the time and by the end", async () => {
  const { board: one } = board();
  const never = new AbortController();
  let woken = false;
  const next = one.next("c", 60_000, never.signal).then(() => {
    woken = true;
  });
  one.send(message("a", "b", "x"));
  await new Promise(setImmediate);
  assert.equal(woken, false);
  one.send(message("a", "all", "x"));
  await next;
  await one.next("c", 1, never.signal);
  const ended = one.next("c", 60_000, never.signal);
  never.abort(new Error("over"));
  await assert.rejects(ended, /over/);
});

async function files(t: TestContext, earlier: BoardMessage[] = [], root?: string) {
  const under = mkdtempSync(join(tmpdir(), "board-"));
  t.after(() => removeFolder(under));
  mkdirSync(join(under, "scratch"));
  const sandbox = await plainSandbox(under, root);
  t.after(() => sandbox.close());
  const { board: one, events } = board(earlier);
  const made = new BoardFiles({ sandbox, board: one, names, scratch: join(under, "scratch") });
  const at = (...parts: string[]) => join(sandbox.seenAs("board"), ...parts);
  return { made, events, at, open: () => made.open(earlier), root: sandbox.seenAs("") };
}

const asked = (to: string, text: string) => JSON.stringify({ to, text });
const textsIn = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).text);

test("after a restart a recorded message is not sent again, and inboxes hold what is on record", async (t) => {
  const first = await files(t);
  await first.open();
  writeFileSync(first.at("outbox/a/1.json"), asked("b", "one"));
  await first.made.look();
  writeFileSync(first.at("inbox/b/000002.json"), '{"text": "left behind"}');
  // killed after the event, before the file was removed
  writeFileSync(first.at("outbox/a/1.json"), asked("b", "one"));
  writeFileSync(first.at("outbox/a/2.json"), asked("b", "two"));
  const again = await files(t, [message("a", "b", "one")], first.root);
  await again.open();
  assert.deepEqual(
    again.events.map((event) => event.event === "board" && event.text),
    ["two"],
  );
  assert.deepEqual(textsIn(again.at("inbox/b")), ["one", "two"]);
  writeFileSync(again.at("outbox/a/1.json"), asked("b", "two"));
  await again.made.look();
  assert.equal(again.events.length, 2, "later an equal message is a new one");
});

test("a removed or replaced board loses nothing of the record, and comes back", async (t) => {
  const { made, events, at, open } = await files(t);
  await open();
  removeFolder(at("inbox"));
  writeFileSync(at("inbox"), "in the way");
  writeFileSync(at("outbox/a/1.json"), asked("b", "one"));
  await made.look();
  assert.equal(events.length, 1);
  removeFolder(at("inbox"));
  await made.look();
  assert.ok(existsSync(at("inbox/b/000001.json")));
});
