// Serves the page on loopback, read-only, with whole trajectories and files of its attempts on demand. Its address holds
// a random token, so that other users and web pages of this machine cannot guess it. Everything that agents wrote is
// escaped; no answer but the page itself may run a script.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { unreachable } from "@mlrb/core/ports/outcome";
import type { AttemptSource } from "@mlrb/report/exports/attempt-source";
import { filePage, folderPage, type PageLink, trajectoryPage } from "@mlrb/report/page/served-pages";
import { lookInside } from "./look-inside.ts";
import { trajectoryPiece } from "./trajectory-piece.ts";

const loopback = "127.0.0.1";

/** An attempt whose record is on this machine; `folder` holds all its files. */
export type ServedAttempt = { folder: string; source: () => AttemptSource };

export type Served = {
  page: string;
  /** By the record's digest. */
  attempts: ReadonlyMap<string, ServedAttempt>;
};

export type PageServer = { address: string; close: () => Promise<void> };

/** Listens on a free port until `close`. */
export async function servePage(served: Served): Promise<PageServer> {
  const token = randomBytes(24).toString("base64url");
  const server = createServer({ maxHeaderSize: 16 << 10, requestTimeout: 10_000 }, (request, response) => {
    let answer: Answer;
    try {
      answer = answerTo(request, { served, token, host: `${loopback}:${portOf(server)}` });
    } catch (error) {
      answer = problem(500, `it could not be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
    }
    response.writeHead(answer.status, headersOf(answer)).end(answer.body);
  });
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, loopback, resolve);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { address: `http://${loopback}:${portOf(server)}/${token}/`, close };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

type Serving = { served: Served; token: string; host: string };

type Answer = { status: number; type: "page" | "html" | "text"; body: string };

/** What is read of a request: nothing but its method, host and address. */
function answerTo(
  { method, headers, url: asked }: IncomingMessage,
  { served, token, host }: Serving,
): Answer {
  if (method !== "GET" && method !== "HEAD") return problem(405, "only GET");
  // a name that a foreign page made lead to loopback is refused (DNS rebinding)
  if (headers.host !== host) return problem(403, "another host");
  const url = URL.parse(asked ?? "/", `http://${host}`);
  const [, given = "", kind, digest = "", ...rest] = url?.pathname.split("/") ?? [];
  if (!url || !isEqual(given, token)) return notFound;
  if (kind === "" && digest === "" && rest.length === 0)
    return { status: 200, type: "page", body: served.page };
  const attempt = served.attempts.get(digest);
  if (attempt && kind === "trajectory" && rest.length === 0)
    return pieceOf(attempt, digest, url.searchParams);
  if (attempt && kind === "files" && rest.length > 0) return filesOf(attempt, digest, rest);
  return notFound;
}

function pieceOf({ source }: ServedAttempt, digest: string, query: URLSearchParams): Answer {
  const from = Number(query.get("from") ?? 0);
  const find = (query.get("find") ?? "").slice(0, 200);
  if (!Number.isSafeInteger(from) || from < 0) return problem(400, "from is the number of a line");
  const links = [report("../"), { words: "its files and snapshots", to: `../files/${digest}/` }];
  return shown(trajectoryPage(trajectoryPiece(source(), { from, find }), links));
}

function report(to: string): PageLink {
  return { words: "report", to };
}

/** To the report, the trajectory and each folder above a file or folder of `names`. */
function linksAbove(names: string[], digest: string, isFolder: boolean): PageLink[] {
  const up = (count: number) => (count === 0 ? "./" : "../".repeat(count));
  const depth = names.length - (isFolder ? 0 : 1);
  return [
    report(up(depth + 2)),
    { words: "trajectory", to: `${up(depth + 2)}trajectory/${digest}` },
    ...["files", ...names.slice(0, -1)].map((words, at) => ({ words, to: up(depth - at) })),
  ].slice(0, names.length === 0 ? 2 : undefined);
}

function filesOf({ folder, source }: ServedAttempt, digest: string, parts: string[]): Answer {
  const found = lookInside(folder, parts);
  if (found.kind === "none") return notFound;
  const { names } = found;
  const links = linksAbove(names, digest, found.kind === "folder");
  const head = { name: `${source().slot.stage}: ${names.join("/") || "files"}`, links };
  switch (found.kind) {
    case "folder":
      return shown(folderPage(head, found));
    case "file":
      return shown(filePage(head, found));
    default:
      return unreachable(found);
  }
}

function shown(body: string): Answer {
  return { status: 200, type: "html", body };
}

function problem(status: number, text: string): Answer {
  return { status, type: "text", body: `${text}\n` };
}

const notFound = problem(404, "not found");

function isEqual(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const noScripts =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

function headersOf({ type }: Answer): Record<string, string> {
  return {
    "content-type": `text/${type === "text" ? "plain" : "html"}; charset=utf-8`,
    // the page itself names its one script in its own policy
    "content-security-policy": type === "page" ? "frame-ancestors 'none'" : noScripts,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer", // the address holds the token
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}
