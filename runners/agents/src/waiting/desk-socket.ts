// Where a person reaches a waiting attempt: a unix socket in the attempt's folder. It takes new values of the
// attempt's own secrets. They go from one process's memory to the other's and never to a disk. The socket's
// address goes through the open folder's descriptor: the path of a state folder may exceed the 107 bytes of an
// address.
import { once } from "node:events";
import { chmodSync, closeSync, constants, mkdirSync, openSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { pauseFile } from "@mlrb/core/ports/attempt-wait";
import { readResumeRequest, resumeSocket } from "@mlrb/core/ports/resume-request";
import type { ResumeReply } from "@mlrb/formats/attempt/resume-request";

export type DeskSocket = { close(): Promise<void> };

export type DeskSocketOptions = {
  /** The attempt's. */
  folder: string;
  /** Names of the attempt's secrets. Others are refused. */
  secrets: string[];
  /** Gets new values before any call is tried again. */
  take(secrets: Record<string, string>): void;
  /** Lets the calls that wait try again; returns their number. */
  resumeAll(): number;
};

async function answer(
  socket: Socket,
  { folder, secrets, take, resumeAll }: DeskSocketOptions,
): Promise<void> {
  socket.setTimeout(10_000, () => socket.destroy());
  const reply = (said: ResumeReply) => void socket.end(`${JSON.stringify(said)}\n`);
  const asked = readResumeRequest(await requestOf(socket));
  if (typeof asked === "string") return reply({ kind: "refused", detail: asked });
  const strange = Object.keys(asked.secrets).filter((name) => !secrets.includes(name));
  if (strange.length > 0)
    return reply({ kind: "refused", detail: `the attempt has no secret ${strange.join(", ")}` });
  take(asked.secrets);
  rmSync(join(folder, pauseFile), { force: true });
  reply({ kind: "resumed", calls: resumeAll() });
}

/** Iterating over the socket would close it before the reply. */
async function requestOf(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    if (text.length > requestMax) socket.destroy(new Error("the request is too long"));
  });
  await once(socket, "end");
  return text;
}

const requestMax = 1 << 20;

/**
 * Undefined if no socket can be made (a full disk, a file system without sockets). The attempt then only tries by
 * itself.
 */
export async function openDesk(options: DeskSocketOptions): Promise<DeskSocket | undefined> {
  const serve = (socket: Socket) => void answer(socket, options).catch(() => socket.destroy());
  const server = createServer({ allowHalfOpen: true }, serve).unref(); // must not keep an ended process alive
  return listenPrivately(server, options.folder, resumeSocket).catch(() => undefined);
}

/** Makes `server` listen at a socket that only this user may open, in a folder of its own in `folder`. */
export async function listenPrivately(
  server: Server,
  folder: string,
  at: { folder: string; name: string },
): Promise<DeskSocket> {
  const inside = join(folder, at.folder);
  let handle: number | undefined;
  try {
    rmSync(inside, { recursive: true, force: true });
    mkdirSync(inside, { mode: 0o700 });
    chmodSync(inside, 0o700); // independent of the umask
    handle = openSync(inside, constants.O_RDONLY | constants.O_DIRECTORY);
    const address = `/proc/self/fd/${handle}/${at.name}`;
    const umask = process.umask(0o177); // private from the start
    try {
      server.listen({ path: address });
    } finally {
      process.umask(umask);
    }
    await once(server, "listening");
    const held = handle;
    return {
      async close() {
        await new Promise<void>((closed) => server.close(() => closed()));
        closeSync(held);
        rmSync(inside, { recursive: true, force: true });
      },
    };
  } catch (error) {
    server.close();
    if (handle !== undefined) closeSync(handle);
    throw error;
  }
}
