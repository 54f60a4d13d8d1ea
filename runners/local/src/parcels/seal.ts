// Seals what travels through a server that is not trusted: nobody reads or changes it without the key. Equal files have
// equal sealed bytes, so that a server holds them once.
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

/** Of up to 256 GiB with one nonce. */
const cipher = "chacha20-poly1305";
const nonceBytes = 12;
const tagBytes = 16;
const options = { authTagLength: tagBytes };

/** Does not belong to this key, or was changed on its way. */
export class BrokenSeal extends Error {}

/** Base64. `slot` says where it lies: a text that was moved to another slot does not open there. */
export function sealText(text: string, { key, slot }: { key: Buffer; slot: string }): string {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, options);
  sealing.setAAD(Buffer.from(slot), { plaintextLength: Buffer.byteLength(text) });
  return Buffer.concat([nonce, sealing.update(text, "utf8"), sealing.final(), sealing.getAuthTag()]).toString(
    "base64",
  );
}

/** Throws BrokenSeal. */
export function openText(sealed: string, { key, slot }: { key: Buffer; slot: string }): string {
  const bytes = Buffer.from(sealed, "base64");
  try {
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), options);
    const text = bytes.subarray(nonceBytes, -tagBytes);
    opening.setAAD(Buffer.from(slot), { plaintextLength: text.length });
    opening.setAuthTag(bytes.subarray(-tagBytes));
    return Buffer.concat([opening.update(text), opening.final()]).toString("utf8");
  } catch {
    throw new BrokenSeal("it was not sealed by this run, or was changed");
  }
}

/** Writes the sealed bytes of the file `from` to the new file `to`; returns their SHA-256 and their number. */
export async function sealFile(
  from: string,
  { to, key }: { to: string; key: Buffer },
): Promise<{ digest: string; bytes: number }> {
  const plain = createHash("sha256");
  await pipeline(createReadStream(from), plain);
  // the nonce follows from the content: it is used again for the same content only
  const nonce = createHmac("sha256", key).update(plain.digest()).digest().subarray(0, nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, options);
  const hash = createHash("sha256").update(nonce);
  let bytes = nonce.length;
  await pipeline(
    createReadStream(from),
    sealing,
    async function* (parts: AsyncIterable<Buffer>) {
      yield nonce;
      for await (const part of parts) {
        hash.update(part);
        bytes += part.length;
        yield part;
      }
      const tag = sealing.getAuthTag();
      hash.update(tag);
      bytes += tag.length;
      yield tag;
    },
    createWriteStream(to, { flags: "wx", mode: 0o600 }),
  );
  return { digest: hash.digest("hex"), bytes };
}

/** Writes the content of the sealed file `from` to `to`, which exists only once all of it is known to be right. */
export async function openFile(from: string, { to, key }: { to: string; key: Buffer }): Promise<void> {
  const file = await open(from);
  const partial = `${to}.partial`;
  try {
    const { size } = await file.stat();
    if (size < nonceBytes + tagBytes) throw new BrokenSeal("it is too short");
    const [nonce, tag] = [Buffer.alloc(nonceBytes), Buffer.alloc(tagBytes)];
    await file.read(nonce, 0, nonceBytes, 0);
    await file.read(tag, 0, tagBytes, size - tagBytes);
    const opening = createDecipheriv(cipher, key, nonce, options);
    opening.setAuthTag(tag);
    const range = { start: nonceBytes, end: size - tagBytes - 1 };
    const sealed = size === nonceBytes + tagBytes ? [] : createReadStream(from, range);
    await pipeline(sealed, opening, createWriteStream(partial, { mode: 0o600 }));
    await rename(partial, to);
  } catch (error) {
    if (/authenticate/i.test((error as Error).message)) throw new BrokenSeal("it was changed on its way");
    throw error;
  } finally {
    await file.close();
    await rm(partial, { force: true });
  }
}
