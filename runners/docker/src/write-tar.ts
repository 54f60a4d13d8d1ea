// Writes a tar archive of a few entries, always the same bytes: some systems' `tar` cannot leave out times and owners.
// Format: POSIX.1-1988 ustar.

export type TarEntry = { path: string } & (
  | { kind: "folder"; mode: number }
  | { kind: "file"; text: string }
  | { kind: "link"; to: string }
);

/** Paths and targets have at most 100 bytes. */
export function writeTar(entries: readonly TarEntry[]): Uint8Array {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.kind === "file" ? entry.text : "");
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    return [header(entry, content.length), content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function header(entry: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(512);
  const octal = (value: number, at: number, digits: number) =>
    block.write(`${value.toString(8).padStart(digits, "0")}\0`, at);
  block.write(entry.kind === "folder" ? `${entry.path}/` : entry.path, 0, 100);
  octal(entry.kind === "folder" ? entry.mode : entry.kind === "file" ? 0o644 : 0o777, 100, 7);
  octal(0, 108, 7); // owner and group: root
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(0, 136, 11); // the time
  block.fill(" ", 148, 156); // the checksum counts as blanks in itself
  block.write({ file: "0", link: "2", folder: "5" }[entry.kind], 156);
  if (entry.kind === "link") block.write(entry.to, 157, 100);
  block.write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
