// Services as a job on a node has to do with them. The job that is one runs its server out of reach of the node's other
// users, behind the job's socket. The job that uses one gets an address of its node that leads to the job's socket.
import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { commandLine } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { withAddresses } from "@mlrb/core/spec/services";
import type { StageContext } from "@mlrb/formats/stage/stage-context";
import { writeJson } from "@mlrb/kit/json-file";
import { passTo } from "@mlrb/kit/services/join-streams";
import { isOwnConnection } from "@mlrb/kit/services/own-connection";

const bridge = join(import.meta.dirname, "service-bridge.ts");

/** Whether the job needs a socket through which the host that submitted it is reached. */
export function needsSocket({ relay, port, services }: ExecutionRequest): boolean {
  return relay === true || port !== undefined || services !== undefined;
}

/** The request as the node carries it out; `socket` is the job's. */
export async function reachingServices(
  request: ExecutionRequest,
  socket: string | undefined,
): Promise<ExecutionRequest> {
  const { port, services, relay } = request;
  if (socket === undefined || relay) return request; // an attempt's calls go to its supervisor
  if (port !== undefined) return served(request, { socket, port });
  return services === undefined ? request : await using(request, { socket, services });
}

function served(request: ExecutionRequest, { socket, port }: { socket: string; port: number }) {
  const host = readlinkSync("/proc/self/ns/net");
  const words = [process.execPath, ...nodeFlags, bridge, socket, String(port), host];
  const command = [...words, ...commandLine(request, process.execPath)];
  return { ...request, run: { kind: "command" as const, command }, network: "none" as const };
}

/** For commands in the request, for scripts in their context. */
async function using(
  request: ExecutionRequest,
  { socket, services }: { socket: string; services: Record<string, string> },
): Promise<ExecutionRequest> {
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    if (isOwnConnection(caller)) passTo(caller, { path: socket });
    else caller.on("error", () => {}).destroy();
  }).listen(0, "127.0.0.1");
  server.unref();
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const urls = Object.fromEntries(Object.keys(services).map((name) => [name, url])); // it uses one at most
  const file = request.env.MLRB_STAGE!;
  const context = JSON.parse(readFileSync(file, "utf8")) as StageContext;
  writeJson(file, { ...context, params: withAddresses(context.params, urls) });
  return { ...request, services: urls };
}
