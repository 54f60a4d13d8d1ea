// An answer that a provider compressed although the relay asked for a plain one. It is read all the same: it is paid.
import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";

/** What is decompressed of one answer: a few kilobytes may claim to be any number of bytes. */
const plainBytesMax = 64 * 2 ** 20;

// parts of a stream of events must not wait for the next ones
const flush = constants.Z_SYNC_FLUSH;
const decoders: Record<string, () => Transform> = {
  gzip: () => createGunzip({ flush }),
  "x-gzip": () => createGunzip({ flush }),
  deflate: () => createInflate({ flush }),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => createZstdDecompress(),
};

/** The bytes of `from` as they are without their encoding. Throws on an unknown encoding. */
export function decoded(
  from: IncomingMessage,
  { most = plainBytesMax, broke }: { most?: number | undefined; broke: (error: Error) => void },
): Readable {
  const encoding = from.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "" || isEmpty(from)) return from;
  if (!Object.hasOwn(decoders, encoding)) throw new Error(`its encoding is ${encoding}`);
  let bytes = 0;
  const bound = new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.length;
      done(bytes > most ? new Error(`it has more than ${most} bytes`) : null, part);
    },
  });
  const plain = pipeline(from, decoders[encoding]!(), bound, (error) => {
    if (error) broke(error);
  });
  return plain;
}

/** Decoders take no bytes for a cut answer. */
function isEmpty({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 204 || statusCode === 304 || headers["content-length"] === "0";
}
