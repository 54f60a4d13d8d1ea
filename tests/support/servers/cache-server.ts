// Real HTTP servers as remote caches on this machine, with a token for every request, behind a proxy that can
// break connections at a byte.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const env = { ...process.env, PATH: [process.env.PATH, "/usr/sbin"].join(delimiter) };

export const cacheToken = "token-of-the-test-cache";

type Software = {
  program: string;
  /** For the option `skip` of a test. */
  missing: string | false;
  configuration: (folder: string, port: number) => string;
  arguments: (folder: string, config: string) => string[];
};

/** `module`: what the program must have for PUT, by a text that `asking` prints. */
function missing(program: string, asking: string[], module: RegExp): string | false {
  const asked = spawnSync(program, asking, { env, encoding: "utf8" });
  if (asked.error !== undefined) return `${program} is not installed`;
  return module.test(asked.stdout + asked.stderr) ? false : `${program} has no module for PUT`;
}

export const nginx: Software = {
  program: "nginx",
  missing: missing("nginx", ["-V"], /http_dav_module/),
  arguments: (folder, config) => ["-p", folder, "-c", config, "-e", join(folder, "logs/error")],
  configuration: (
    folder,
    port,
  ) => `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/logs/error warn;
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
      if ($http_authorization != "Bearer ${cacheToken}") { return 401; }
      dav_methods PUT; create_full_put_path on; dav_access user:rw;
    }
    location / { return 404; }
  }
}
`,
};

export const lighttpd: Software = {
  program: "lighttpd",
  missing:
    missing("lighttpd", ["-v"], /lighttpd/) ||
    (existsSync("/usr/lib/lighttpd/mod_webdav.so") ? false : "lighttpd has no module for PUT"),
  arguments: (_, config) => ["-D", "-f", config],
  configuration: (folder, port) => `server.modules = ("mod_access", "mod_webdav")
server.document-root = "${folder}/store"
server.bind = "127.0.0.1"
server.port = ${port}
server.upload-dirs = ("${folder}/tmp")
server.errorlog = "${folder}/logs/error"
webdav.activate = "enable"
$REQUEST_HEADER["Authorization"] != "Bearer ${cacheToken}" { url.access-deny = ("") }
`,
};

export class CacheServer {
  readonly #folder = mkdtempSync(join(tmpdir(), "mlrb-cache-server-"));
  readonly #software: Software;
  readonly #sockets = new Set<Socket>();
  #server: ChildProcess | undefined;
  #port = 0;
  #proxyPort = 0;
  #proxy: ReturnType<typeof createServer> | undefined;
  /** After this many bytes of requests the server is killed, and its connections break. */
  killAfter = Number.POSITIVE_INFINITY;
  /** After this many bytes of answers the connections break, once. */
  breakAfter = Number.POSITIVE_INFINITY;

  /** The bytes of requests: headers, and bodies. */
  requests = "";

  constructor(software: Software) {
    this.#software = software;
  }

  /** Starts the server; after `killAfter` it serves the same files again. */
  async start(): Promise<this> {
    this.#port ||= await freePort();
    if (!this.#proxy) await this.#listen();
    // a server without `create_full_put_path` needs the folders
    for (const name of ["store/lab/ac", "store/lab/cas", "logs", "tmp"])
      mkdirSync(join(this.#folder, name), { recursive: true });
    const config = join(this.#folder, "server.conf");
    const { program, configuration, arguments: args } = this.#software;
    writeFileSync(config, configuration(this.#folder, this.#port));
    this.#server = spawn(program, args(this.#folder, config), { env, stdio: "ignore" });
    for (let waited = 0; !(await answers(this.#port)); waited++) {
      if (waited > 200) throw new Error(`${program} did not come up`);
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

  /** Changes the last byte of a stored content. */
  spoil(kind: "ac" | "cas", name: string): void {
    const path = join(this.#folder, "store/lab", kind, name);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(path, bytes);
  }

  /** Ends the server as if its machine were away; `start` brings it back. */
  async leave(): Promise<void> {
    await this.#kill();
  }

  async stop(): Promise<void> {
    this.#proxy?.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server || server.exitCode !== null) return;
    const ended = once(server, "exit");
    server.kill("SIGKILL"); // each is one process
    await ended;
  }

  /** Passes bytes on, so that a test can break the connection at a byte. */
  async #listen(): Promise<void> {
    let passed = 0;
    let answered = 0;
    this.#proxy = createServer((from) => {
      const to = connect(this.#port, "127.0.0.1");
      for (const socket of [from, to]) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          this.#sockets.delete(socket);
          from.end();
          to.destroy();
        });
      }
      to.on("data", (bytes) => {
        answered += bytes.length;
        from.write(bytes);
        if (answered < this.breakAfter) return;
        this.breakAfter = Number.POSITIVE_INFINITY;
        from.end();
        to.destroy();
      });
      from.on("data", (bytes) => {
        passed += bytes.length;
        if (this.requests.length < 16 << 20) this.requests += bytes.toString("latin1");
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
