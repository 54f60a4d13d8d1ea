// Reads a repository of a hub through the hub's own client: commits, files and card. Every request may be repeated, and
// every failure becomes a trouble with its cause and the way out.
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { retryAfterMs } from "@mlrb/agents/model/retry-after";

export const publicHub = "https://huggingface.co";

/** Tries of one request, with the first. */
const triesMax = 4;
const answerMs = 60_000;
const pauseMsMax = 60_000;
/** Of one answer that is no file. A page of the file list is about 0.3 MiB. */
const answerBytesMax = 64 << 20;

/** An answer of more than `bytesMax` bytes becomes HubTrouble. */
type HubFetch = (input: string | URL | Request, init?: RequestInit, bytesMax?: number) => Promise<Response>;

export type HubAccess = { endpoint: string; token: string | undefined; fetch: HubFetch };

/** Why the hub gave no usable answer, for people. */
export class HubTrouble extends Error {
  readonly code: string;
  readonly help: string;

  constructor(code: string, message: string, help: string) {
    super(message);
    this.code = code;
    this.help = help;
  }
}

/** From HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE. Throws HubTrouble where they forbid requests. */
export function hubAccess(env: NodeJS.ProcessEnv): HubAccess {
  if (/^(1|on|yes|true)$/i.test(env.HF_HUB_OFFLINE ?? ""))
    throw new HubTrouble(
      "hub-offline",
      "HF_HUB_OFFLINE is set, so the hub is not asked",
      "unset HF_HUB_OFFLINE, or run this on a machine with a network and copy sources.lock.yaml",
    );
  const endpoint = (env.HF_ENDPOINT || publicHub).replace(/\/+$/, "");
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    throw new HubTrouble(
      "bad-endpoint",
      `HF_ENDPOINT is ${endpoint}, not an address`,
      `unset HF_ENDPOINT, or write an address such as ${publicHub}`,
    );
  const token = env.HF_TOKEN || undefined;
  if (token !== undefined && !token.startsWith("hf_"))
    throw new HubTrouble("bad-token", "HF_TOKEN does not start with hf_", "set it to a token of the hub");
  return { endpoint, token, fetch: repeatedFetch(endpoint) };
}

/** Repeats requests that a hub is too busy for, or whose connection broke. Other hosts get no token. */
function repeatedFetch(endpoint: string): HubFetch {
  return async (input, init, bytesMax = answerBytesMax) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers);
    if (url.origin !== new URL(endpoint).origin) headers.delete("authorization");
    for (let tries = 1; ; tries++) {
      const answer = await oneTry(url, { ...init, headers }, bytesMax);
      if (!isPassing(answer) || tries === triesMax) {
        if (answer instanceof Error) throw answer;
        // the client would read the body, which a proxy may have written
        if (!answer.ok) throw statusError(answer);
        return answer;
      }
      await sleep(pauseMs(answer, tries));
    }
  };
}

/** The whole answer, so that a connection that breaks half-way is repeated too. */
async function oneTry(url: URL, init: RequestInit, bytesMax: number): Promise<Response | Broken> {
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(answerMs) });
    if (!answer.ok) {
      await answer.body?.cancel();
      return answer;
    }
    const body = await bodyOf(answer, bytesMax);
    const { status, statusText, headers } = answer;
    const whole = new Response(body.byteLength > 0 ? body : null, { status, statusText, headers });
    Object.defineProperty(whole, "url", { value: answer.url });
    return whole;
  } catch (error) {
    return brokenBy(error, url);
  }
}

function isPassing(answer: Response | Broken): boolean {
  return answer instanceof Error ? answer.passing : answer.status === 429 || answer.status >= 500;
}

function statusError({ status, statusText }: Response): Error {
  return Object.assign(new Error(statusText), { statusCode: status });
}

type SavedFile = {
  path: string;
  /** As the hub lists the file. */
  bytes: number;
};

/** Streams a file of any size to `path`. Throws HubTrouble, the error of a status, or that of the disk. */
export async function saveFile(
  { url, headers }: { url: string; headers: Record<string, string> },
  to: SavedFile,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const answer = await savedOnce(new URL(url), headers, to);
    if (answer === undefined) return;
    if (!isPassing(answer) || tries === triesMax)
      throw answer instanceof Error ? answer : statusError(answer);
    await sleep(pauseMs(answer, tries));
  }
}

/** Undefined if the file was saved. `fetch` sends the token to no other host. */
async function savedOnce(
  url: URL,
  headers: Record<string, string>,
  { path, bytes }: SavedFile,
): Promise<Response | Broken | undefined> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error(`no answer for ${answerMs / 1000} s`)), answerMs);
  let saved = 0;
  async function* counted(answer: Response): AsyncGenerator<Uint8Array> {
    for await (const chunk of answer.body ?? []) {
      timer.refresh();
      saved += chunk.byteLength;
      if (saved > bytes) throw longAnswer(url, bytes);
      yield chunk;
    }
  }
  try {
    const answer = await fetch(url, {
      headers: { ...headers, "accept-encoding": "identity" },
      signal: silence.signal,
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      return answer;
    }
    await pipeline(counted(answer), createWriteStream(path, { mode: 0o600 }));
    if (saved === bytes) return undefined;
    return new Broken(`${url.origin}${url.pathname}: ${saved} of ${bytes} bytes`, true);
  } catch (error) {
    if (isOfDisk(error)) throw error;
    return brokenBy(error, url);
  } finally {
    clearTimeout(timer);
  }
}

function longAnswer({ origin, pathname }: URL, bytesMax: number): HubTrouble {
  return new HubTrouble(
    "long-answer",
    `${origin}${pathname}: the answer has more than ${bytesMax} bytes, and was not read further`,
    "try again; does HF_ENDPOINT name a hub, or does a proxy answer with a page of its own?",
  );
}

/** Errors of `fetch` have their system call only in their cause. */
export function isOfDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/** The trouble of a connection. Throws a HubTrouble. */
function brokenBy(error: unknown, { origin, pathname }: URL): Broken {
  if (error instanceof HubTrouble) throw error;
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  const why = cause?.code ?? cause?.message ?? message;
  return new Broken(`${origin}${pathname}: ${why}`, !/ECONNREFUSED|ENOTFOUND/.test(why));
}

/** Counts what is unpacked, whatever length the answer announces. */
async function bodyOf({ body, url }: Response, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw longAnswer(new URL(url), bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

class Broken extends HubTrouble {
  /** Whether the next try may succeed. */
  readonly passing: boolean;

  constructor(message: string, passing: boolean) {
    super("hub-unreachable", message, "is the hub reachable from here? HF_ENDPOINT names another one");
    this.passing = passing;
  }
}

function pauseMs(answer: Response | Broken, tries: number): number {
  const asked =
    answer instanceof Error
      ? null
      : retryAfterMs({ headers: Object.fromEntries(answer.headers), delays: [], messages: [] });
  return Math.min(asked ?? 250 * 2 ** (tries - 1), pauseMsMax);
}

/** The cause of an error of the client; `what` was asked for. */
export function hubTrouble(error: unknown, what: string): HubTrouble {
  if (error instanceof HubTrouble) return error;
  const { statusCode, message } = error as Error & { statusCode?: number };
  const trouble = (code: string, cause: string, help: string) =>
    new HubTrouble(code, `${what}: ${cause}`, help);
  switch (statusCode) {
    case undefined:
      return trouble(
        "hub-answer",
        `the hub's answer cannot be read (${message})`,
        "try again; does HF_ENDPOINT name a hub?",
      );
    case 401:
    case 403:
      return trouble(
        "hub-closed",
        `the hub refuses access (${statusCode})`,
        "accept the terms on the repository's page, and set HF_TOKEN to a token that may read it",
      );
    case 404:
      return trouble(
        "hub-missing",
        "the hub has no such repository, commit or file (404)",
        "check repository, type and revision; the hub also answers this for a private repository without HF_TOKEN",
      );
    case 429:
      return trouble("hub-busy", "too many requests (429)", "try again later; HF_TOKEN raises the limit");
    default:
      return trouble("hub-failed", `the hub answered ${statusCode}`, "try again later");
  }
}
