// The calls of a job on a node, at the host that submitted it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { duplexPair } from "node:stream";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { callsTo, ServiceDoors, withReach } from "./job-channel.ts";
import type { JobFolder } from "./job-folder.ts";
import type { JobRun } from "./job-run.ts";
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

/** A job of the service at `port`, which a test ends. */
function jobOf(port: number, doors: ServiceDoors) {
  const { promise, resolve } = Promise.withResolvers<ExecutionResult>();
  const end = () => resolve({ kind: "cancelled" });
  const job = { ended: promise, began: new Promise(() => {}), askToEnd: end, kill: end };
  const running = withReach(job as unknown as JobRun, { port, doors, folder: {} as JobFolder, env: {} });
  return { ended: running.ended, end };
}

test("the port of a service stays the runner's between two of its jobs", async () => {
  const doors = new ServiceDoors();
  const [port, url] = await freeAddress();
  const first = jobOf(port, doors);
  await doors.at(port).listening;
  first.end();
  assert.deepEqual(await first.ended, { kind: "cancelled" });
  assert.equal((await fetch(url)).status, 503);
  const taken = createServer().listen(port, "127.0.0.1");
  assert.match(String(await once(taken, "error")), /EADDRINUSE/);
  const second = jobOf(port, doors);
  second.end();
  assert.deepEqual(await second.ended, { kind: "cancelled" });
  doors.at(port).close();
});

test("a service whose port another program has fails, and a later job can have the port", async () => {
  const doors = new ServiceDoors();
  const [port] = await freeAddress();
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  const failed = await jobOf(port, doors).ended;
  assert.ok(failed.kind === "failed" && failed.cause === "machine", JSON.stringify(failed));
  assert.match(failed.detail, /cannot lead to the service: .*EADDRINUSE/);
  other.close();
  await once(other, "close");
  const later = jobOf(port, doors);
  await doors.at(port).listening;
  later.end();
  assert.deepEqual(await later.ended, { kind: "cancelled" });
  doors.at(port).close();
});

async function freeAddress(): Promise<[number, string]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return [port, `http://127.0.0.1:${port}/`];
}
