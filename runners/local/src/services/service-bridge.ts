// Runs a service's server on a node of a cluster, where the network namespace of this program has nothing but a loopback
// of its own: other users of the node cannot reach the server. Its port is reached through a unix socket in a folder of
// this user. Usage: `node service-bridge.ts SOCKET PORT NAMESPACE COMMAND…`; NAMESPACE is the host's.
import { spawn } from "node:child_process";
import { readlinkSync } from "node:fs";
import { connect, createServer } from "node:net";
import { constants } from "node:os";
import { passTo } from "@mlrb/kit/services/join-streams";

const [, , path = "", port = "", hosts = "", program = "", ...args] = process.argv;
const address = { host: "127.0.0.1", port: Number(port) };

if (readlinkSync("/proc/self/ns/net") === hosts)
  fail("this node allows no network namespaces, so that other users of the node could call the service");
const asked = connect(address).on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "ENETUNREACH") begin();
  else
    fail(
      "the loopback of a network namespace cannot be set up here: is the program ip (iproute2) installed?",
    );
});
asked.on("connect", () => fail(`port ${port} of a new network namespace is taken`));

function begin(): void {
  process.umask(0o177);
  createServer({ allowHalfOpen: true }, (caller) => passTo(caller, address)).listen(path);
  const server = spawn(program, args, { stdio: "inherit" });
  server.on("error", (error) => fail(error.message));
  // as a shell says it
  server.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal!]));
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => server.kill(signal));
}

function fail(why: string): never {
  console.error(`mlrb: ${why}`);
  process.exit(1);
}
