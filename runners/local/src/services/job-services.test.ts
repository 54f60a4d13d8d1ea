import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { needsSocket, reachingServices } from "./job-services.ts";

const request = {
  ...{ id: "ask", key: "k", token: "t:", run: { kind: "command", command: "true" }, root: "/", work: "/w" },
  ...{
    env: {},
    inputs: {},
    outputs: {},
    log: "/w/log",
    limits: {},
    reads: [],
    writes: [],
    cpus: 1,
    gpus: [],
  },
} satisfies ExecutionRequest;

test("a job that uses a service calls it at an address of its node, through the job's socket", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-job-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const socket = join(folder, "sock");
  const host = createServer((asked, answer) => answer.end(asked.url));
  t.after(() => host.close());
  await once(host.listen(socket), "listening");
  const MLRB_STAGE = join(folder, "stage.json");
  writeFileSync(MLRB_STAGE, JSON.stringify({ params: { url: "{services.model.url}/v1" } }));
  const asked = { ...request, env: { MLRB_STAGE }, services: { model: "http://127.0.0.1:1" } };
  const { services } = await reachingServices(asked, socket);
  const url = services!.model!;
  assert.notEqual(url, "http://127.0.0.1:1");
  assert.equal(await (await fetch(`${url}/ping`)).text(), "/ping");
  assert.deepEqual(JSON.parse(readFileSync(MLRB_STAGE, "utf8")), { params: { url: `${url}/v1` } });
});

test("a job has a socket if it is a service, uses one, or calls models through the relay", () => {
  const has = (more: Partial<ExecutionRequest>) => needsSocket({ ...request, ...more });
  assert.deepEqual([{}, { port: 1 }, { services: {} }, { relay: true as const }].map(has), [
    false,
    true,
    true,
    true,
  ]);
});

test("a service does not start where other users of its node could call it", {
  skip: process.platform !== "linux",
}, async () => {
  const served = await reachingServices({ ...request, port: 4_000 }, "/nowhere/sock");
  assert.equal(served.network, "none");
  assert(served.run.kind === "command" && Array.isArray(served.run.command));
  const [program, ...args] = served.run.command;
  assert.ok(args.includes(readlinkSync("/proc/self/ns/net")));
  const { status, stderr } = spawnSync(program!, args, { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /^mlrb: this node allows no network namespaces/);
});
