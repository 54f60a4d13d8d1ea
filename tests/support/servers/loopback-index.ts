// A package index on this machine for tests: the page of each package, as HTML or JSON, and its files.
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { LoopbackServer } from "./loopback-server.ts";

type Package = { file: string; content: Buffer; metadata?: Buffer };

const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex");

export class LoopbackIndex extends LoopbackServer {
  readonly requests: string[] = [];
  readonly packages = new Map<string, Package[]>();
  /** Whether it speaks PEP 691 too. */
  json = false;

  constructor() {
    super((request, response) => this.#answer(request, response));
  }

  get address(): string {
    return `${this.endpoint}/simple`;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://index").pathname);
    this.requests.push(`${request.method} ${path}`);
    const page = /^\/simple\/([^/]+)\/$/.exec(path)?.[1];
    const listed = page === undefined ? undefined : this.packages.get(page);
    const name = /^\/files\/(.+)$/.exec(path)?.[1];
    const files = [...this.packages.values()].flat();
    const content =
      files.find(({ file }) => file === name)?.content ??
      files.find(({ file }) => `${file}.metadata` === name)?.metadata;
    if (listed && this.json && request.headers.accept?.includes("json"))
      response
        .writeHead(200, { "content-type": "application/vnd.pypi.simple.v1+json" })
        .end(jsonPage(page!, listed));
    else if (listed) response.writeHead(200, { "content-type": "text/html" }).end(htmlPage(listed));
    else if (content) response.writeHead(200, { "content-length": content.length }).end(content);
    else response.writeHead(404).end();
  }
}

function htmlPage(files: Package[]): string {
  const links = files.map(({ file, content, metadata }) => {
    const about = metadata ? ` data-core-metadata="sha256=${sha256(metadata)}"` : "";
    return `<a href="../../files/${file}#sha256=${sha256(content)}" data-requires-python="&gt;=3.8"${about}>${file}</a>`;
  });
  return `<!DOCTYPE html><html><body>${links.join("\n")}</body></html>`;
}

function jsonPage(name: string, files: Package[]): string {
  return JSON.stringify({
    meta: { "api-version": "1.0" },
    name,
    files: files.map(({ file, content, metadata }) => ({
      filename: file,
      url: `/files/${file}`,
      hashes: { sha256: sha256(content) },
      ...(metadata && { "core-metadata": { sha256: sha256(metadata) } }),
    })),
  });
}
