// The end of the relay on a node: takes connections at a unix socket and passes each as a stream of one channel,
// which is this program's standard input and output. It knows no secret. Usage: `node relay-node.ts SOCKET
// [ANSWER_MS]`. The socket's folder must be this user's alone. Ends when the channel does not answer: calls are
// then refused at once.
import { lstatSync, renameSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { Duplex } from "node:stream";
import { nodeEnd } from "./channel-ends.ts";
import { answerMs, openStream, streamsOver } from "./streams.ts";

function main(path: string, afterMs: number): void {
  const folder = lstatSync(dirname(path));
  if (!folder.isDirectory() || folder.uid !== process.getuid!() || (folder.mode & 0o077) !== 0)
    throw new Error(`${dirname(path)} must be a folder that only this user may enter`);
  // renamed into place once the other side has answered: a later channel takes the place of one that hangs
  const own = `${path}.${process.pid}`;
  process.umask(0o177);
  const session = streamsOver(nodeEnd(process.stdin, process.stdout), {
    answerMs: afterMs,
    ready: () => server.listen(own, () => renameSync(own, path)),
  });
  session.on("close", () => process.exit(0));
  process.stdin.on("end", () => process.exit(0));
  const server = createServer({ allowHalfOpen: true }, (socket) => joinStreams(socket, openStream(session)));
}

/** Passes the bytes of each to the other, and ends both with either. */
function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const)
    from.on("error", () => to.destroy()).on("close", () => to.destroy());
  one.pipe(other).pipe(one);
}

main(process.argv[2]!, Number(process.argv[3] ?? answerMs));
