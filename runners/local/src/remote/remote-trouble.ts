// What can go wrong with a remote cache: kinds of trouble, and what is no trouble of the cache but of this machine.

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
  /** Not the bytes of this digest. */
  | "wrong-bytes";

export class RemoteTrouble extends Error {
  readonly kind: TroubleKind;

  constructor(kind: TroubleKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Of this machine's disk, not of the connection. */
const diskErrors = /^(ENOSPC|EDQUOT|EIO|ENOENT|EACCES|EPERM|EROFS|EISDIR|EEXIST|EMFILE)$/;

const noServer = /^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$|CERT|SSL|TLS/;

/** Rethrows everything but errors of the connection. */
export function troubleOf(error: unknown): RemoteTrouble {
  if (error instanceof RemoteTrouble) return error;
  const { code, name, message, syscall } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError" || name === "AbortError")
    return new RemoteTrouble("silent", "it did not answer in time");
  if (code === undefined || (diskErrors.test(code) && syscall !== "connect")) throw error;
  const said = message.includes(code) ? message : `${message} (${code})`.trim();
  return new RemoteTrouble(syscall === "connect" || noServer.test(code) ? "unreachable" : "failing", said);
}
