// The way from a port of the host that submits to a service's socket on a node, over a channel as Slurm has it.
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcp, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { hostEnd } from "./channel-ends.ts";
import { ServiceDoor } from "./service-door.ts";

async function freePort(): Promise<number> {
  const server = createTcp().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A door, with a service behind its channel once both are opened. */
async function doorOf(t: TestContext, isOwn?: () => boolean) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-door-"));
  const socket = join(folder, "sock");
  const port = await freePort();
  const door = new ServiceDoor(port, isOwn);
  const server = createServer((asked, answer) => {
    answer.write("first ");
    asked.pipe(answer);
  });
  const children: ChildProcessWithoutNullStreams[] = [];
  t.after(() => {
    door.close();
    server.close();
    server.closeAllConnections();
    for (const child of children) child.kill("SIGKILL");
    removeFolder(folder);
  });
  const url = `http://127.0.0.1:${port}/`;
  const open = () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "service-node.ts"), socket]);
    child.stderr.pipe(process.stderr);
    children.push(child);
    return { child, served: door.serve(hostEnd(child.stdout, child.stdin)) };
  };
  const serve = () => once(server.listen(socket), "listening");
  const status = () => fetch(url).then(async (answer) => [answer.status, await answer.text()] as const);
  return { url, open, serve, status };
}

test("calls reach the service, and while no way leads to it they read that it is away", async (t) => {
  const { url, open, serve, status } = await doorOf(t);
  const away = /^{"error":.*is started again"}}$/;
  const [code, words] = await status();
  assert.equal(code, 503);
  assert.match(words, away);
  const { child, served } = open();
  await serve();
  while ((await status())[0] !== 200);
  const body = "x".repeat(200_000);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => fetch(url, { method: "POST", body }).then((answer) => answer.text())),
  );
  assert.deepEqual(new Set(answers), new Set([`first ${body}`]));
  child.kill("SIGKILL");
  await served;
  assert.equal((await status())[0], 503);
  open();
  while ((await status())[0] !== 200);
});

test("a service that has no socket yet is away, and other users of the host are cut off", async (t) => {
  const { open, status } = await doorOf(t);
  open();
  assert.equal((await status())[0], 503);
  const other = await doorOf(t, () => false);
  await other.serve();
  other.open();
  await assert.rejects(other.status());
});

test("a call that the system cannot hand over ends neither the door nor the runner", async (t) => {
  const listen = t.mock.method(Server.prototype, "listen");
  const { status } = await doorOf(t);
  const door = listen.mock.calls.at(-1)!.this as Server;
  assert.equal((await status())[0], 503);
  door.emit("error", Object.assign(new Error("accept ENFILE"), { code: "ENFILE" }));
  assert.equal((await status())[0], 503);
});
