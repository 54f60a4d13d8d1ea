// Both forwarders pass the same tests: each replaces the other.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

const kinds = [
  ["Python's", "python3", ["-I", "-S", "-B"], "forwarder.py"],
  ["Node's", process.execPath, [], "forwarder.mjs"],
] as const;

async function forwarded(
  t: TestContext,
  [, program, flags, file]: (typeof kinds)[number],
  serve: (near: Socket) => void,
) {
  const folder = mkdtempSync(join(tmpdir(), "forwarder-"));
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    serve(socket);
  });
  server.listen(join(folder, "supervisor.sock"));
  await once(server, "listening");
  const child = spawn(program, [...flags, join(import.meta.dirname, file), "0"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => {
    child.kill("SIGKILL");
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const [said] = await once(child.stdout, "data");
  const port = Number(/^port (\d+)\n$/.exec(String(said))?.[1]);
  return { port, server };
}

/** What came until the connection's end, half of it or whole. */
function heard(socket: Socket): Promise<string> {
  let text = "";
  return new Promise((resolve) => {
    socket.on("data", (piece) => {
      text += piece;
    });
    for (const event of ["end", "close"]) socket.on(event, () => resolve(text));
    socket.on("error", () => {});
  });
}

for (const kind of kinds) {
  test(`${kind[0]} forwarder carries megabytes both ways, and the end of a request`, async (t) => {
    const { port } = await forwarded(t, kind, (near) => {
      let bytes = 0;
      near.on("data", (piece) => {
        bytes += piece.length;
      });
      near.on("end", () => near.end(`${bytes} ${"y".repeat(3 << 20)}`));
    });
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.end("x".repeat(5 << 20));
    const text = await heard(socket);
    assert.equal(text.length, `${5 << 20} `.length + (3 << 20));
    assert.ok(text.startsWith(`${5 << 20} y`));
  });

  test(`${kind[0]} forwarder closes a connection that the gateway closed, though the client keeps it open`, async (t) => {
    const { port } = await forwarded(t, kind, (near) => near.end("bye"));
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.write("hello");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    assert.equal(await heard(socket), "bye");
    const holding = setInterval(() => socket.write("still here"), 10);
    await closed;
    clearInterval(holding);
  });

  test(`${kind[0]} forwarder closes a connection without a gateway, and keeps running`, async (t) => {
    const { port, server } = await forwarded(t, kind, (near) => near.end("never"));
    server.close(); // its name goes with it
    for (let again = 0; again < 2; again++) {
      const socket = connect({ port, host: "127.0.0.1" });
      assert.equal(await heard(socket), "");
    }
  });
}
