// Makes a server of the supervisor reachable for programs in a sandbox: a unix socket in the sandbox's folder, and
// inside a forwarder that carries connections on 127.0.0.1 to it. The agent can kill the forwarder, usually by
// mistake (`pkill python`): it is started again on the same port as long as the program runs.
import { copyFile, mkdir } from "node:fs/promises";
import type { Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";
import { SandboxTrouble } from "../sandbox/sandbox-trouble.ts";

export type ForwardedServer = {
  server: Server;
  /** What the server is, for messages, e.g. `model gateway`. */
  what: string;
  /** The folder for its socket inside; also its own name in `scratch`. */
  folder: string;
  /** An empty host folder that the caller removes. */
  scratch: string;
  agent: string;
  /** PATH on which the forwarder's interpreter is found: the program's own. */
  path: string | undefined;
};

// an image of Node has no Python, and a host may have no Node
const start =
  'if command -v python3 >/dev/null 2>&1; then exec python3 -I -S -B forwarder.py "$1"; fi; ' +
  'if command -v node >/dev/null 2>&1; then exec node forwarder.mjs "$1"; fi; ' +
  'echo "neither python3 nor node is on the PATH"; exit 127';

/** To be called before the first program runs. Throws if the sandbox has no place for a socket. */
export async function forwardInside(sandbox: Sandbox, forwarded: ForwardedServer) {
  const { server, what, folder, scratch, agent, path } = forwarded;
  if (!sandbox.listen)
    throw new Error(`agent "${agent}": its sandbox (${sandbox.kind}) has no place for a ${what}`);
  const own = join(scratch, folder);
  await mkdir(own);
  for (const name of ["forwarder.py", "forwarder.mjs"])
    await copyFile(join(import.meta.dirname, name), join(own, name));
  await sandbox.put(own, folder, { readOnly: true });
  await sandbox.listen(server, `${folder}/supervisor.sock`);
  let stopped = false;
  let port = 0;
  let said = "";
  const { promise: first, resolve: listening, reject } = Promise.withResolvers<number>();
  const once = () =>
    sandbox.exec({
      argv: ["sh", "-c", start, "forwarder", String(port)],
      cwd: sandbox.seenAs(folder),
      env: path === undefined ? {} : { PATH: path },
      onOutput(_, bytes) {
        if (port > 0) return; // programs inside may write here too
        said = (said + Buffer.from(bytes).toString()).slice(-1000);
        const found = /^port (\d+)$/m.exec(said)?.[1];
        if (found === undefined) return;
        port = Number(found);
        listening(port);
      },
    });
  void (async () => {
    while (!stopped) {
      const result = await once();
      if (port === 0) return reject(notBegun(forwarded, result, said));
      if (result.kind === "lost" || result.kind === "not-started" || ("over" in result && result.over))
        return;
      await sleep(200, undefined, { ref: false });
    }
  })().catch(reject);
  return {
    /** Where programs inside find it, e.g. `http://127.0.0.1:4000`. Rejects if the sandbox cannot run the forwarder. */
    address: first.then((found) => `http://127.0.0.1:${found}`),
    /** Starts no forwarder after this. */
    stop() {
      stopped = true;
    },
  };
}

function notBegun({ agent, what }: ForwardedServer, result: ExecResult, said: string): Error {
  if (result.kind === "lost")
    return new SandboxTrouble(`the sandbox ended while agent "${agent}" was running: ${result.detail}`);
  const why = result.kind === "not-started" ? result.detail : said.trim() || JSON.stringify(result);
  return new Error(
    `agent "${agent}": its ${what} could not be opened inside: ${why}; ` +
      "it needs sh, and python3 or node, on the PATH of the sandbox (`image` of the preset)",
  );
}
