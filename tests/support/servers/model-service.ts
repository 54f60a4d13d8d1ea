// A service of a test: a small HTTP server that notes its pid at each start, answers /health and /ping, and passes all else
// to a provider of the test through a unix socket, since it may run in a network namespace of its own.
import { connect as connectTo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Lab } from "../lab.ts";
import { isRunning, pidsIn } from "../processes.ts";

/** `server.ts PORT STARTS SOCKET` */
const server = `import { appendFileSync } from "node:fs";
import { createServer, request } from "node:http";
const [port, starts, socketPath] = process.argv.slice(2);
appendFileSync(starts!, process.pid + "\\n");
createServer((asked, answer) => {
  if (asked.url === "/health" || asked.url === "/ping") return void answer.end("pong");
  const passed = request({ socketPath, path: asked.url, method: asked.method, headers: asked.headers }, (got) => {
    answer.writeHead(got.statusCode!, got.headers);
    got.pipe(answer);
  });
  passed.on("error", () => answer.destroy());
  asked.pipe(passed);
}).listen(Number(port), "127.0.0.1");
`;

/** The stage, and the pids of its servers in order of their starts. */
export function modelService(at: Lab, users: string[]) {
  const script = at.script("server.ts", server);
  const starts = join(at.outside, "starts");
  const socket = join(at.outside, "provider");
  return {
    stage: {
      service: { for: users, ready: "30s" },
      command: `exec node ${script} {port} '${starts}' '${socket}'`,
      files: [script],
    },
    pids: () => pidsIn(starts),
    running: () => pidsIn(starts).filter(isRunning),
    /** Lets its servers reach a provider, until the test's end. */
    passTo(url: string, t: { after(end: () => unknown): void }) {
      const { port } = new URL(url);
      const open = new Set<Socket>();
      const between = createServer((one) => {
        open.add(one);
        const other = connectTo(Number(port), "127.0.0.1");
        for (const [from, to] of [
          [one, other],
          [other, one],
        ] as const)
          from.on("error", () => to.destroy()).pipe(to);
      }).listen(socket);
      t.after(() => {
        between.close();
        for (const one of open) one.destroy();
      });
    },
  };
}
