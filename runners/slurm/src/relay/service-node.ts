// The end of the way to a service on its node: passes each stream of the channel, which is this program's standard input
// and output, to the socket of the service's job. Usage: `node service-node.ts SOCKET`.
import type { Duplex } from "node:stream";
import { passTo } from "@mlrb/kit/services/join-streams";
import { nodeEnd } from "./channel-ends.ts";
import { answerMs } from "./end-if-silent.ts";
import { serviceCallsMax, takeStreams } from "./streams.ts";

const [, , path = ""] = process.argv;
process.stdin.on("end", () => process.exit(0));
const take = (stream: Duplex) => passTo(stream, { path });
await takeStreams(nodeEnd(process.stdin, process.stdout), { most: serviceCallsMax, answerMs, take });
process.exit(0);
