// A service of a test: a small HTTP server that notes its pid at each start, answers /ping, ends at /die, and
// passes all else to a provider of the test.
import { join } from "node:path";
import type { Lab } from "../lab.ts";
import { pidsIn } from "../processes.ts";

/** `server.ts PORT STARTS [TARGET]` */
const server = `import { appendFileSync } from "node:fs";
import { createServer, request } from "node:http";
const [port, starts, target] = process.argv.slice(2);
appendFileSync(starts!, process.pid + "\\n");
console.log("the model is loaded");
createServer((asked, answer) => {
  if (asked.url === "/die") process.exit(3);
  if (asked.url === "/health" || target === undefined) return void answer.end("pong");
  const passed = request(target + asked.url, { method: asked.method, headers: asked.headers }, (got) => {
    answer.writeHead(got.statusCode!, got.headers);
    got.pipe(answer);
  });
  passed.on("error", () => answer.destroy());
  asked.pipe(passed);
}).listen(Number(port), "127.0.0.1");
`;

/** The stage, and the pids of its servers in order of their starts. */
export function model(at: Lab, service: Record<string, unknown> = {}, target = "") {
  const script = at.script("server.ts", server);
  const starts = join(at.outside, "starts");
  return {
    stage: {
      service: { for: ["ask"], ready: "20s", ...service },
      command: `exec node ${script} {port} '${starts}' ${target}`,
      files: [script],
      resources: { cpus: 0.5 },
    },
    pids: () => pidsIn(starts),
  };
}
