// The body of a request for facts of files, which is all that a program may send.
import type { IncomingMessage } from "node:http";
import { NotServed } from "./fetch-upstream.ts";

const bodyBytesMax = 64 << 10;

/** As `huggingface_hub` and `datasets` send it: names of files whose facts are asked for. */
export async function pathsBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > bodyBytesMax)
      throw new NotServed("too-large", `a request of more than ${bodyBytesMax} bytes`, { status: 413 });
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString();
  const isJson = request.headers["content-type"]?.startsWith("application/json") ?? false;
  const named = isJson ? pathsOfJson(text) : new URLSearchParams(text).getAll("paths");
  return JSON.stringify({ paths: named, expand: false });
}

function pathsOfJson(text: string): string[] {
  try {
    const { paths } = JSON.parse(text) as { paths?: unknown };
    return [paths].flat().filter((path): path is string => typeof path === "string");
  } catch {
    throw new NotServed("not-served", "the request is not JSON", { status: 400 });
  }
}
