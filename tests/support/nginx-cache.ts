// nginx as a remote cache on this machine: `dav_methods PUT`, and a token for every request.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const env = { ...process.env, PATH: [process.env.PATH, "/usr/sbin"].join(delimiter) };
const asked = spawnSync("nginx", ["-V"], { env, encoding: "utf8" });

/** For the option `skip` of a test. */
export const noNginx =
  asked.error !== undefined
    ? "nginx is not installed"
    : asked.stderr.includes("http_dav_module")
      ? false
      : "nginx was built without its module for PUT";

export const nginxToken = "token-of-the-test-cache";

export class NginxCache {
  readonly #folder = mkdtempSync(join(tmpdir(), "mlrb-nginx-"));
  readonly #sockets = new Set<Socket>();
  #nginx: ChildProcess | undefined;
  #port = 0;
  #proxyPort = 0;
  #proxy: ReturnType<typeof createServer> | undefined;
  /** After this many bytes of requests nginx is killed, and its connections break. */
  killAfter = Number.POSITIVE_INFINITY;

  /** Starts nginx; after `killAfter` it serves the same files again. */
  async start(): Promise<this> {
    this.#port ||= await freePort();
    if (!this.#proxy) await this.#listen();
    for (const name of ["store", "logs", "tmp"]) mkdirSync(join(this.#folder, name), { recursive: true });
    const config = join(this.#folder, "nginx.conf");
    writeFileSync(config, configuration(this.#folder, this.#port));
    this.#nginx = spawn("nginx", ["-p", this.#folder, "-c", config, "-e", join(this.#folder, "logs/error")], {
      env,
      stdio: "ignore",
    });
    for (let waited = 0; !(await answers(this.#port)); waited++) {
      if (waited > 200) throw new Error("nginx did not come up");
      await sleep(25);
    }
    return this;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#proxyPort}/lab`;
  }

  /** The digests or keys below `ac` or `cas`. */
  names(kind: "ac" | "cas"): string[] {
    const folder = join(this.#folder, "store/lab", kind);
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  async stop(): Promise<void> {
    this.#proxy?.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #kill(): Promise<void> {
    const nginx = this.#nginx;
    this.#nginx = undefined;
    if (!nginx || nginx.exitCode !== null) return;
    const ended = once(nginx, "exit");
    nginx.kill("SIGKILL"); // one process: `master_process off`
    await ended;
  }

  /** Passes bytes on, so that a test can break the connection at a byte. */
  async #listen(): Promise<void> {
    let passed = 0;
    this.#proxy = createServer((from) => {
      const to = connect(this.#port, "127.0.0.1");
      for (const socket of [from, to]) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          this.#sockets.delete(socket);
          from.destroy();
          to.destroy();
        });
      }
      to.pipe(from);
      from.on("data", (bytes) => {
        passed += bytes.length;
        if (passed < this.killAfter) {
          to.write(bytes);
          return;
        }
        void this.#kill();
        for (const socket of this.#sockets) socket.destroy();
      });
    });
    this.#proxy.listen(0, "127.0.0.1");
    await once(this.#proxy, "listening");
    this.#proxyPort = (this.#proxy.address() as { port: number }).port;
  }
}

function configuration(folder: string, port: number): string {
  return `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/logs/error warn;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/tmp; proxy_temp_path ${folder}/tmp; fastcgi_temp_path ${folder}/tmp;
  uwsgi_temp_path ${folder}/tmp; scgi_temp_path ${folder}/tmp;
  client_max_body_size 0;
  server {
    listen 127.0.0.1:${port};
    root ${folder}/store;
    location ~ "^/lab/(ac|cas)/[0-9a-f]{64}$" {
      if ($http_authorization != "Bearer ${nginxToken}") { return 401; }
      dav_methods PUT; create_full_put_path on; dav_access user:rw;
    }
    location / { return 404; }
  }
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise((done) => {
    socket.once("connect", () => done(true)).once("error", () => done(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}
