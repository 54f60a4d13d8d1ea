// What goes over the socket of an attempt that waits for a person: one JSON line there, one back. Types and checks.

/** In the attempt's folder: a folder with mode 0700 that holds the socket, with mode 0600. */
export const resumeSocket = { folder: "resume", name: "sock" } as const;

/** `secrets`: new values by name; none where the old ones are right again. */
export type ResumeRequest = { formatVersion: 1; secrets: Record<string, string> };

export type ResumeReply =
  /** So many calls are tried again now. */
  { kind: "resumed"; calls: number } | { kind: "refused"; detail: string };

/** A text is why it is refused. */
export function readResumeRequest(text: string): ResumeRequest | string {
  let value: Partial<ResumeRequest> | null;
  try {
    value = JSON.parse(text) as Partial<ResumeRequest> | null;
  } catch {
    return "the request is not JSON";
  }
  if (value?.formatVersion !== 1)
    return `the request has format ${String(value?.formatVersion)}; this attempt reads format 1`;
  const { secrets } = value;
  if (typeof secrets !== "object" || secrets === null || Array.isArray(secrets))
    return "the request holds no secrets";
  if (!Object.values(secrets).every((secret) => typeof secret === "string" && secret !== ""))
    return "a secret of the request is no text";
  return { formatVersion: 1, secrets };
}

export function readResumeReply(text: string): ResumeReply | undefined {
  try {
    const value = JSON.parse(text) as ResumeReply | null;
    return value?.kind === "resumed" || value?.kind === "refused" ? value : undefined;
  } catch {
    return undefined;
  }
}
