// A wheel with one module, made without tools.
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/** A ZIP archive of stored files. */
export function storedZip(files: Record<string, string | Buffer>): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const about = Buffer.alloc(22);
    about.writeUInt16LE(20, 0);
    about.writeUInt32LE(crc32(content), 10);
    about.writeUInt32LE(content.length, 14);
    about.writeUInt32LE(content.length, 18);
    const names = Buffer.alloc(4);
    names.writeUInt16LE(Buffer.byteLength(name), 0);
    bodies.push(Buffer.from("PK\x03\x04"), about, names, Buffer.from(name), content);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(offset, 10);
    entries.push(Buffer.from("PK\x01\x02\x14\0"), about, names, end, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + content.length;
  }
  const directory = Buffer.concat(entries);
  const close = Buffer.alloc(18);
  close.writeUInt16LE(Object.keys(files).length, 4);
  close.writeUInt16LE(Object.keys(files).length, 6);
  close.writeUInt32LE(directory.length, 8);
  close.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, directory, Buffer.from("PK\x05\x06"), close]);
}

export function wheel(name: string, module: string): { file: string; content: Buffer; metadata: Buffer } {
  const info = `${name}-1.0.dist-info`;
  const metadata = `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`;
  const files: Record<string, string> = {
    [`${name}.py`]: module,
    [`${info}/METADATA`]: metadata,
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  };
  const line = ([path, text]: [string, string]) =>
    `${path},sha256=${createHash("sha256").update(text).digest("base64url")},${Buffer.byteLength(text)}`;
  const record = [...Object.entries(files).map(line), `${info}/RECORD,,`].join("\n");
  const content = storedZip({ ...files, [`${info}/RECORD`]: `${record}\n` });
  return { file: `${name}-1.0-py3-none-any.whl`, content, metadata: Buffer.from(metadata) };
}
