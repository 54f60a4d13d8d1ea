import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type TestContext, test } from "node:test";
import { freePort } from "./free-port.ts";
import { untilHealthy } from "./until-healthy.ts";

const never = new AbortController().signal;

async function serve(t: TestContext, statuses: number[]): Promise<string> {
  const port = await freePort();
  const server = createServer((_, answer) => {
    answer.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!).end();
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${port}/health`;
}

test("only status 200 counts as an answer", async (t) => {
  const url = await serve(t, [503, 404, 200]);
  assert.equal(await untilHealthy(url, { readyMs: 5000, signal: never }), undefined);
});

test("a server that never gets ready is reported with its last answer and the limit", async (t) => {
  const url = await serve(t, [503]);
  assert.equal(
    await untilHealthy(url, { readyMs: 800, signal: never }),
    "GET /health did not answer with status 200 within 800 ms; last: status 503",
  );
  const closed = `http://127.0.0.1:${await freePort()}/v1/models`;
  const refused = await untilHealthy(closed, { readyMs: 800, signal: never });
  assert.match(refused!, /^GET \/v1\/models .* last: connection refused$/);
});

test("the wait ends at once when the server has ended", async () => {
  const end = new AbortController();
  const url = `http://127.0.0.1:${await freePort()}/health`;
  const waiting = untilHealthy(url, { readyMs: 60_000, signal: end.signal });
  end.abort();
  assert.equal(typeof (await waiting), "string");
});

test("an answer of another program does not count", async (t) => {
  const url = await serve(t, [200]);
  const whose = ["another program listens", undefined];
  assert.equal(
    await untilHealthy(url, { readyMs: 5000, signal: never, refusal: () => whose.shift() }),
    undefined,
  );
  assert.equal(whose.length, 0);
  const refused = await untilHealthy(url, { readyMs: 300, signal: never, refusal: () => "another's" });
  assert.match(refused!, /last: another's$/);
});
