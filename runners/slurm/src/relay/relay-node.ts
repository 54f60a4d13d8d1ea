// The end of the relay on a node: takes connections at a unix socket and passes each as a stream of one channel, which is
// this program's standard input and output. It knows no secret. Usage: `node relay-node.ts SOCKET [ANSWER_MS]`. The
// socket's folder must be this user's alone. Ends when the channel does not answer: calls are then refused at once.
import { lstatSync, renameSync } from "node:fs";
import { connect } from "node:http2";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { nodeEnd } from "./channel-ends.ts";
import { answerMs, endIfSilent } from "./end-if-silent.ts";

function main(path: string, afterMs: number): void {
  const folder = lstatSync(dirname(path));
  if (!folder.isDirectory() || folder.uid !== process.getuid!() || (folder.mode & 0o077) !== 0)
    throw new Error(`${dirname(path)} must be a folder that only this user may enter`);
  const channel = nodeEnd(process.stdin, process.stdout);
  const session = connect("http://relay", { createConnection: () => channel });
  session.on("error", () => {}).on("close", () => process.exit(0));
  process.stdin.on("end", () => process.exit(0));
  endIfSilent(session, afterMs);
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const stream = session.request({ ":method": "CONNECT", ":authority": "relay" });
    for (const [one, other] of [
      [socket, stream],
      [stream, socket],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    socket.pipe(stream).pipe(socket);
  });
  // renamed into place once the other side has answered: a later channel takes the place of one that hangs
  const own = `${path}.${process.pid}`;
  process.umask(0o177);
  session.once("remoteSettings", () => server.listen(own, () => renameSync(own, path)));
}

main(process.argv[2]!, Number(process.argv[3] ?? answerMs));
