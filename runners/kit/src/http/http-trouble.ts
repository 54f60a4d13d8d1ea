// What can go wrong with a request to a server: kinds of trouble, and what is no trouble of the server but of this
// machine.
import type { IncomingHttpHeaders } from "node:http";

export type TroubleKind =
  /** An incomplete answer, or an error of the server. Another try may succeed. */
  | "failing"
  /** No answer in time. */
  | "silent"
  /** The server is not there. */
  | "unreachable"
  /** It refuses this kind of request, e.g. for its token. */
  | "refused"
  /** It takes no more, or nothing as large. */
  | "full"
  /** It lacks a content. */
  | "missing"
  /** Not the bytes that were asked for, or more of them. */
  | "wrong-bytes";

type Seen = {
  /** Of an error of the connection. */
  code?: string;
  /** Of the answer. */
  status?: number;
  headers?: IncomingHttpHeaders;
};

/** The message says what the server, `it`, did. */
export class HttpTrouble extends Error {
  readonly kind: TroubleKind;
  readonly seen: Seen;

  constructor(kind: TroubleKind, message: string, seen: Seen = {}) {
    super(message);
    this.kind = kind;
    this.seen = seen;
  }
}

/** Of this machine's disk, not of the connection. */
const diskErrors = /^(ENOSPC|EDQUOT|EIO|ENOENT|EACCES|EPERM|EROFS|EISDIR|EEXIST|EMFILE)$/;

const noServer = /^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$|CERT|SSL|TLS/;

/** Rethrows everything but errors of the connection. */
export function troubleOf(error: unknown): HttpTrouble {
  if (error instanceof HttpTrouble) return error;
  const { code = "", name, message, syscall } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError" || name === "AbortError")
    return new HttpTrouble("silent", "it did not answer in time");
  if (!/^[A-Z\d_]+$/.test(code) || (diskErrors.test(code) && syscall !== "connect")) throw error;
  const said = message.includes(code) ? message : `${message} (${code})`.trim();
  const isAway = syscall === "connect" || noServer.test(code);
  return new HttpTrouble(isAway ? "unreachable" : "failing", said, { code });
}
