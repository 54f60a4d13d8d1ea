import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { isOwnPort, usersAt } from "./own-connection.ts";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0
   1: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 4243 1 0
   2: 0100007F:D432 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0
   3: 0000000000000000FFFF00000100007F:D433 0000000000000000FFFF00000100007F:1F90 01 0:0 0:0 0 1002 0 4244 1 0
`;

test("a connection to 127.0.0.1 reaches the user who listens there, or else those who listen at all addresses", () => {
  const line = (address: string, uid: number, state = "0A") =>
    `   0: ${address}:1F90 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 4242 1 0\n`;
  const users = (tcp: string, tcp6 = "") => usersAt(8080, { tcp, tcp6 });
  const zeros = "0".repeat(32);
  assert.deepEqual(users(table), [1000]);
  assert.deepEqual(users(line("00000000", 1001), line(zeros, 1002)), [1001, 1002]);
  assert.deepEqual(users(line("0100007F", 1000), line(zeros, 1001)), [1000]);
  assert.deepEqual(users("", line("0000000000000000FFFF00000100007F", 1001)), [1001]);
  assert.deepEqual(users(line("0500000A", 1001), line(`${"0".repeat(24)}01000000`, 1001)), []);
  assert.deepEqual(users(line("0100007F", 1001, "01")), []);
});

test("a port is this user's own while a program of this user listens there", {
  skip: process.platform !== "linux",
}, async () => {
  for (const host of ["127.0.0.1", "0.0.0.0"]) {
    const server = createServer().listen(0, host);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    assert.ok(isOwnPort(port));
    server.close();
    await once(server, "close");
    assert.ok(!isOwnPort(port));
  }
});
