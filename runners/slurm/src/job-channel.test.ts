// The calls of a job on a node, at the host that submitted it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { duplexPair } from "node:stream";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { callsTo } from "./job-channel.ts";
import { openStream, streamsOver } from "./relay/streams.ts";

/** The answer to a call from a node, and how many calls the program at the port has seen. */
async function called(t: TestContext, isOwn?: () => boolean) {
  let seen = 0;
  const server = createServer((_, answer) => {
    seen++;
    answer.end("a model");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [host, node] = duplexPair();
  t.after(() => {
    server.close();
    host.destroy();
    node.destroy();
  });
  void callsTo(url, isOwn).serve(host);
  const stream = await new Promise<ReturnType<typeof openStream>>((opened) => {
    const session = streamsOver(node, { answerMs: 60_000, ready: () => opened(openStream(session)) });
  });
  stream.write("GET / HTTP/1.1\r\nhost: service\r\nconnection: close\r\n\r\n");
  return { answer: await text(stream), seen };
}

test("a call from a node reaches the service's port, and no other user's program that listens there", async (t) => {
  const own = await called(t);
  assert.match(own.answer, /^HTTP\/1.1 200 [\s\S]*a model/);
  const other = await called(t, () => false);
  assert.match(other.answer, /^HTTP\/1.1 503 /);
  assert.equal(other.seen, 0);
});
