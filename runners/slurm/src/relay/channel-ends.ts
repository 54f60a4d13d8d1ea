// The two ends of a channel over a step's standard input and output. Slurm keeps a step's output until a line ends, or
// gives the program a terminal (`srun --unbuffered`), which changes bytes. So what the node sends are lines of base64.
// What it receives comes as it is.
import { Duplex, pipeline, Transform } from "node:stream";

/** On the node. */
export function nodeEnd(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Duplex {
  const lines = new Transform({
    transform: (part: Buffer, _encoding, done) => done(null, `${part.toString("base64")}\n`),
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
      done(null, Buffer.concat(lines.map((line) => Buffer.from(line, "base64"))));
    },
  });
  pipeline(output, bytes, () => {});
  return bothOf(bytes, input);
}

/** Of one write of a session: a few frames. */
const lineMax = 2 ** 24;

function bothOf(readable: NodeJS.ReadableStream, writable: NodeJS.WritableStream): Duplex {
  // the types of Node name only web streams here
  return Duplex.from({ readable, writable } as unknown as Iterable<unknown>);
}
