// The two ends of a channel over a step's standard input and output. Slurm keeps a step's output until a line
// ends, or gives the program a terminal (`srun --unbuffered`), which changes bytes. So what the node sends are
// lines of base64. Each has a mark: a site's programs (`TaskProlog`) print to the step's output too. What the node
// receives comes as it is.
import { Duplex, pipeline, Transform } from "node:stream";

/** Before the base64 of a line; no character of it is base64's. */
const mark = "<mlrb>";

/** On the node. */
export function nodeEnd(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Duplex {
  const lines = new Transform({
    transform: (part: Buffer, _encoding, done) => done(null, `${mark}${part.toString("base64")}\n`),
  });
  pipeline(lines, output, () => {}); // the end of the channel follows
  return bothOf(input, lines);
}

/** On the host that submitted. */
export function hostEnd(output: NodeJS.ReadableStream, input: NodeJS.WritableStream): Duplex {
  let rest = "";
  const bytes = new Transform({
    transform(part: Buffer, _encoding, done) {
      const lines = (rest + part.toString("latin1")).split("\n");
      rest = lines.pop()!;
      if (rest.length > lineMax) return done(new Error("no line of the channel"));
      done(null, Buffer.concat(lines.map(bytesOf)));
    },
  });
  pipeline(output, bytes, () => {});
  return bothOf(bytes, input);
}

/** Of a line that is not the node's end's: none. A text without a line's end may precede the mark. */
function bytesOf(line: string): Buffer {
  const at = line.lastIndexOf(mark);
  return at === -1 ? Buffer.alloc(0) : Buffer.from(line.slice(at + mark.length), "base64");
}

/** Of one write of a session: a few frames. */
const lineMax = 2 ** 24;

function bothOf(readable: NodeJS.ReadableStream, writable: NodeJS.WritableStream): Duplex {
  // the types of Node name only web streams here
  return Duplex.from({ readable, writable } as unknown as Iterable<unknown>);
}
