import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { freePort } from "./free-port.ts";
import { listening, portOwner } from "./port-owner.ts";

const skip = process.platform !== "linux" && "only Linux says who listens";

/** A shell whose child listens at the port. */
async function server(t: TestContext, port: number) {
  const code = `require("node:net").createServer().listen(${port}, "127.0.0.1", () => console.log("up"))`;
  const child = spawn("sh", ["-c", `"$0" -e '${code}'; true`, process.execPath], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  t.after(() => process.kill(-child.pid!, "SIGKILL"));
  await once(child.stdout, "data");
  return child.pid!;
}

test("a port is a service's if its process or one below it listens there, and no other process", {
  skip,
}, async (t) => {
  const port = await freePort();
  assert.equal(portOwner(port, process.pid), "nobody");
  const root = await server(t, port);
  assert.equal(portOwner(port, root), "own");
  assert.equal(portOwner(port, undefined), "other");
  const another = await server(t, await freePort());
  assert.equal(portOwner(port, another), "other");
  const everywhere = createServer().listen(0, "::");
  t.after(() => everywhere.close());
  await once(everywhere, "listening");
  const { port: second } = everywhere.address() as { port: number };
  assert.equal(portOwner(second, process.pid), "own");
  assert.equal(portOwner(second, root), "other");
  assert.equal(portOwner(second, undefined), "other");
});

test("only sockets that listen count, at exactly this port", () => {
  const line = (local: string, state: string, inode: number) =>
    `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0 100 0`;
  const table = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    line("0100007F:1F90", "0A", 1),
    line("0100007F:1F90", "01", 2),
    line("00000000:1F91", "0A", 3),
  ].join("\n");
  assert.deepEqual(listening(table, 8080), ["1"]);
  assert.deepEqual(listening(table, 0x1f91), ["3"]);
});
