// What doctor leaves behind when its small job gets no node, with stubs of Slurm's programs.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { until } from "../../../../tests/support/processes.ts";
import { clusterChecks } from "./cluster-checks.ts";

test("doctor closes the way of its job's files also when the job is late: nothing keeps it alive", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-doctor-"));
  t.after(() => removeFolder(root));
  const bin = join(root, "bin");
  mkdirSync(bin);
  const pending =
    'for a; do case "$a" in --name=*) n="${a#--name=}";; esac; done; echo "7|PENDING|Priority||main|$n|1 doctor"';
  const stubs = {
    sinfo: "echo 'main*|infinite'",
    sbatch: "cat > /dev/null; echo 7",
    squeue: pending,
    scancel: "true",
  };
  for (const [name, line] of Object.entries(stubs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const open = new Set<unknown>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume();
    response.writeHead(request.method === "PUT" ? 201 : 404).end();
  });
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const checks = await clusterChecks(
    [
      {
        ...{
          python: false,
          gpus: 0,
          offline: [],
          walled: [],
          contained: [],
          attempts: [],
          services: [],
          sandbox: { weakLimits: false },
          stages: ["data"],
          attemptMs: 0,
        },
        ...{ slurm: { files: "remote-cache" }, most: { cpus: 1, limits: {}, memoryBytes: 0 } },
      },
    ],
    {
      ...{ repository: root, root, patienceMs: 500 },
      here: { python: undefined, processor: "any" },
      env: {
        PATH: `${bin}${delimiter}${process.env.PATH}`,
        MLRB_REMOTE_CACHE: `http://127.0.0.1:${port}/`,
      },
    },
  );
  assert.match(checks.at(-1)!.found, /^a small job got no node within /);
  await until("the end of its connections", () => open.size === 0, 5_000);
});
