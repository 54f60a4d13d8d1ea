// Where a person reaches a waiting attempt: a unix socket in the attempt's folder, from its first wait on. It takes new
// values of the attempt's own secrets. They go from one process's memory to the other's and never to a disk. The
// socket's address goes through the open folder's descriptor: the path of a state folder may exceed the 107 bytes of
// an address.
import { once } from "node:events";
import { chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { pauseFile } from "@mlrb/core/ports/attempt-wait";
import { readResumeRequest, resumeSocket } from "@mlrb/core/ports/resume-request";
import type { ResumeReply } from "@mlrb/formats/attempt/resume-request";

export type OperatorDesk = {
  /** Resolves after `ms`, or when a person resumes the attempt; rejects when `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** Whether a person has asked the attempt to stop before its next call. */
  paused(): boolean;
  close(): Promise<void>;
};

export type DeskOptions = {
  /** The attempt's. */
  folder: string;
  /** Names of the attempt's secrets. Others are refused. */
  secrets: string[];
  /** Gets new values before any call is tried again. */
  take(secrets: Record<string, string>): void;
  setTimer?: (then: () => void, ms: number) => () => void;
};

export function operatorDesk({ folder, secrets, take, setTimer = timer }: DeskOptions): OperatorDesk {
  const waiting = new Set<() => void>();
  let open: Promise<Opened | undefined> | undefined;
  const answer = async (socket: Socket) => {
    socket.setTimeout(10_000, () => socket.destroy());
    const reply = (said: ResumeReply) => socket.end(`${JSON.stringify(said)}\n`);
    const asked = readResumeRequest(await requestOf(socket));
    if (typeof asked === "string") return reply({ kind: "refused", detail: asked });
    const strange = Object.keys(asked.secrets).filter((name) => !secrets.includes(name));
    if (strange.length > 0)
      return reply({ kind: "refused", detail: `the attempt has no secret ${strange.join(", ")}` });
    take(asked.secrets);
    rmSync(join(folder, pauseFile), { force: true });
    const tried = waiting.size;
    for (const resume of [...waiting]) resume();
    reply({ kind: "resumed", calls: tried });
  };
  const close = async () => {
    const opened = await open;
    open = undefined;
    await opened?.close();
  };
  return {
    async pause(ms, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stop = () => reject(signal.reason);
      const cancel = setTimer(resolve, ms);
      waiting.add(resolve);
      signal.addEventListener("abort", stop, { once: true });
      open ??= listen(folder, (socket) => void answer(socket).catch(() => socket.destroy()));
      try {
        await promise;
      } finally {
        cancel();
        waiting.delete(resolve);
        signal.removeEventListener("abort", stop);
      }
    },
    paused: () => existsSync(join(folder, pauseFile)),
    close,
  };
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

function timer(then: () => void, ms: number): () => void {
  const running = setTimeout(then, ms);
  return () => clearTimeout(running);
}

type Opened = { close(): Promise<void> };

/**
 * Undefined if no socket can be made (a full disk, a file system without sockets). The attempt then only tries by
 * itself.
 */
async function listen(folder: string, serve: (socket: Socket) => void): Promise<Opened | undefined> {
  const inside = join(folder, resumeSocket.folder);
  let handle: number | undefined;
  const server = createServer({ allowHalfOpen: true }, serve).unref(); // must not keep an ended process alive
  try {
    rmSync(inside, { recursive: true, force: true });
    mkdirSync(inside, { mode: 0o700 });
    chmodSync(inside, 0o700); // independent of the umask
    handle = openSync(inside, constants.O_RDONLY | constants.O_DIRECTORY);
    const address = `/proc/self/fd/${handle}/${resumeSocket.name}`;
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
  } catch {
    server.close();
    if (handle !== undefined) closeSync(handle);
    return undefined;
  }
}
