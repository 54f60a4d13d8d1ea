// The transport against a server that the test drives piece by piece, with a clock that the test moves.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { guardedFetch, type TransportTrouble } from "./guarded-fetch.ts";

const limits = { idleMs: 1000, bodyBytesMax: 1000 };

/** Time passes when the test says so. */
function clock() {
  let now = 0;
  const due = new Set<{ at: number; then: () => void }>();
  return {
    later(then: () => void, ms: number) {
      const one = { at: now + ms, then };
      due.add(one);
      return () => void due.delete(one);
    },
    tick(ms: number) {
      now += ms;
      for (const one of due)
        if (one.at <= now) {
          due.delete(one);
          one.then();
        }
    },
  };
}

/** `answers` gives what the next request is answered through. */
async function server(t: TestContext): Promise<{ url: string; answers(): Promise<ServerResponse> }> {
  const http = createServer();
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    answers: async () => (await once(http, "request"))[1] as ServerResponse,
  };
}

test("an answer that keeps coming is never too slow, one that stops coming is given up", async (t) => {
  const { url, answers } = await server(t);
  const { later, tick } = clock();
  const { fetch, trouble } = guardedFetch({ ...limits, later });
  const asked = answers();
  const fetching = fetch(url);
  const response = await asked;
  tick(900);
  response.writeHead(200).write("a");
  const body = (await fetching).body!.getReader();
  for (let piece = 0; piece < 5; piece++) {
    assert.equal(new TextDecoder().decode((await body.read()).value), "a");
    tick(900);
    response.write("a");
  }
  await body.read();
  assert.equal(trouble(), undefined);
  const rest = body.read();
  tick(1001);
  await assert.rejects(rest);
  assert.equal(trouble()!.code, "MLRB_IDLE");
  await once(response, "close");
});

test("a request that is never answered is given up", async (t) => {
  const { url, answers } = await server(t);
  const { later, tick } = clock();
  const { fetch } = guardedFetch({ ...limits, later });
  const fetching = fetch(url);
  const refused = assert.rejects(fetching, (error: TransportTrouble) => error.code === "MLRB_IDLE");
  await answers();
  tick(1001);
  await refused;
});

test("a whole answer leaves no timer behind", async (t) => {
  const { url, answers } = await server(t);
  const { later, tick } = clock();
  const { fetch, trouble } = guardedFetch({ ...limits, later });
  const fetching = fetch(url);
  (await answers()).end("whole");
  assert.equal(await (await fetching).text(), "whole");
  tick(100_000);
  assert.equal(trouble(), undefined);
});

test("a stream whose last event has no empty line after it leaves no timer behind", async (t) => {
  const { url, answers } = await server(t);
  const { later, tick } = clock();
  const { fetch, trouble } = guardedFetch({ ...limits, later, stream: "events" });
  const fetching = fetch(url);
  (await answers()).end('data: {"text":"whole"}');
  assert.equal(await (await fetching).text(), 'data: {"text":"whole"}');
  tick(100_000);
  assert.equal(trouble(), undefined);
});

test("a body of exactly the limit is taken, one byte more is not", async (t) => {
  const { url, answers } = await server(t);
  for (const [bytes, code] of [
    [1000, undefined],
    [1001, "MLRB_OVERSIZE"],
  ] as const) {
    const { fetch, trouble } = guardedFetch(limits);
    const fetching = fetch(url);
    (await answers()).end("x".repeat(bytes));
    const text = (await fetching).text();
    if (code === undefined) assert.equal((await text).length, bytes);
    else await assert.rejects(text);
    assert.equal(trouble()?.code, code);
  }
});

test("a redirect is not followed, for the key would go with it", async (t) => {
  const { url, answers } = await server(t);
  const { fetch, trouble } = guardedFetch(limits);
  const fetching = fetch(url, { headers: { "x-api-key": "secret" } });
  const refused = assert.rejects(fetching, /redirect to http:\/\/elsewhere\.example/u);
  (await answers()).writeHead(302, { location: "http://elsewhere.example/" }).end();
  await refused;
  assert.equal(trouble()!.code, "MLRB_REDIRECT");
});

test("a body that is no stream is recognized by its first bytes, under any content type", async (t) => {
  const { url, answers } = await server(t);
  const begins = async (type: string, body: string) => {
    const { fetch, trouble } = guardedFetch({ ...limits, bodyBytesMax: 1e6, stream: "events" });
    const asked = answers();
    const fetching = fetch(url);
    (await asked).writeHead(200, { "content-type": type }).end(body);
    const text = await (await fetching).text().catch(() => undefined);
    return trouble()?.message ?? text;
  };
  assert.equal(
    await begins("text/event-stream", "<!doctype html>\n<title>Sign in</title>"),
    'no stream of events, but text/event-stream: "<!doctype html> <title>Sign in</title>"',
  );
  assert.match((await begins("application/json", '{"choices":[]}'))!, /application\/json: "\{\\"choices/u);
  assert.match(
    (await begins("text/html", "<p>".repeat(1e5)))!,
    /^no stream of events, but text\/html: .{200,300}$/u,
  );
  for (const stream of ["data: {}\n\n", ": hello\n\ndata: {}\n\n", "\n\nevent: x\ndata: {}\n\n"])
    assert.equal(await begins("text/plain", stream), stream);
});
