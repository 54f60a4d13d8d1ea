// Cuts a stream of server-sent events into blocks, each with its bytes: the program gets what the provider sent,
// and the JSON of each event is read on the way. eventsource-parser gets the bytes up to one empty line at a time,
// so the bytes of each event are known.
import { createParser } from "eventsource-parser";

/** `data` is empty for a block without an event: comments, an empty line. */
export type StreamBlock = { bytes: Buffer; data: string };

const blockMax = 32 << 20;
/** An empty line after a line's end; `\n` after `\r` belongs to the same end. */
const emptyLine = /(?<=[\r\n])(?!(?<=\r)\n)(?:\r\n|\r|\n)/gu;

export function streamBlocks() {
  let parts: Buffer[] = [];
  let size = 0;
  let data = "";
  let last = "\n";
  const parser = createParser({ onEvent: (event) => (data = event.data) });
  const add = (part: Buffer) => {
    size += part.length;
    if (size > blockMax) throw new Error(`an event of more than ${blockMax} bytes`);
    parts.push(part);
    // one character for each byte, so no letter is cut
    parser.feed(part.toString("latin1"));
  };
  const block = (): StreamBlock => {
    const whole = { bytes: Buffer.concat(parts), data: Buffer.from(data, "latin1").toString("utf8") };
    parts = [];
    size = 0;
    data = "";
    return whole;
  };
  return {
    /** Throws if a block exceeds 32 MiB. */
    take(bytes: Buffer): StreamBlock[] {
      const blocks: StreamBlock[] = [];
      const text = last + bytes.toString("latin1");
      let from = 0;
      for (const { index, 0: end } of text.matchAll(emptyLine)) {
        const to = index + end.length - 1;
        add(bytes.subarray(from, to));
        blocks.push(block());
        from = to;
      }
      if (from < bytes.length) add(bytes.subarray(from));
      last = text.at(-1)!;
      return blocks;
    },
    /** At the end of the stream: the bytes after the last whole block. Undefined if there are none. */
    end(): StreamBlock | undefined {
      parser.feed("\n\n");
      return parts.length > 0 ? block() : undefined;
    },
  };
}
