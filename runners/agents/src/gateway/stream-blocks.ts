// Cuts a stream of server-sent events into its blocks, each with the bytes that it came in, so that what a program
// gets is what the provider sent, and the JSON of each can be read on the way.

export type StreamBlock = { bytes: Buffer; data: string };

export type StreamBlocks = {
  /** Throws where one block is larger than anybody would send. */
  take(bytes: Buffer): StreamBlock[];
  /** What came after the last whole block. */
  rest(): Buffer;
};

const blockMax = 32 << 20;

export function streamBlocks(): StreamBlocks {
  let parts: Buffer[] = [];
  let size = 0;
  const last = (count: number) => Buffer.concat(parts.slice(-3)).subarray(-count);
  return {
    take(bytes) {
      const before = size === 0 ? Buffer.alloc(0) : last(3);
      parts.push(bytes);
      size += bytes.length;
      if (size > blockMax) throw new Error(`an event of more than ${blockMax} bytes`);
      // joined only where an end is in sight: an enormous event comes in thousands of pieces
      if (!/\r?\n\r?\n/.test(Buffer.concat([before, bytes]).toString("latin1"))) return [];
      const all = Buffer.concat(parts);
      const blocks: StreamBlock[] = [];
      let from = 0;
      for (const end of all.toString("latin1").matchAll(/\r?\n\r?\n/g)) {
        const block = all.subarray(from, end.index + end[0].length);
        blocks.push({ bytes: block, data: dataOf(block.toString("utf8")) });
        from = end.index + end[0].length;
      }
      parts = from < all.length ? [all.subarray(from)] : [];
      size = all.length - from;
      return blocks;
    },
    rest: () => Buffer.concat(parts),
  };
}

function dataOf(block: string): string {
  return block
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trimStart())
    .join("\n");
}
