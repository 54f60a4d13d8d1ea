// What the download gateway writes to a program: a whole file with its ranges, or a refusal that its clients
// understand.
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename, dirname } from "node:path";
import send from "send";
import type { CachedFile } from "./download-cache.ts";
import type { NotServed } from "./fetch-upstream.ts";

export type Exchange = { request: IncomingMessage; response: ServerResponse };

export function answerWith(
  text: string,
  headers: Record<string, string>,
  { request, response }: Exchange,
): void {
  response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : text);
}

/** Serves ranges and conditions too. Resolves when the answer has ended, whoever ended it. */
export async function sent({ path }: CachedFile, { request, response }: Exchange): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once("close", resolve);
  if (response.destroyed) return;
  response.setHeader("content-type", "application/octet-stream");
  send(request, `/${basename(path)}`, {
    root: dirname(path),
    cacheControl: false,
    lastModified: false,
    etag: false,
    index: false,
  })
    .on("error", ({ status }: { status: number }) => {
      if (!response.headersSent) response.writeHead(status);
      response.end();
    })
    .pipe(response);
  await promise;
}

export function refuse(response: ServerResponse, { status, code, message }: NotServed): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const text = message.replace(/[^\x20-\x7e]/g, "?");
  response
    .writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "x-error-message": text,
      ...(code !== undefined && { "x-error-code": code }),
    })
    .end(`${text}\n`);
}
