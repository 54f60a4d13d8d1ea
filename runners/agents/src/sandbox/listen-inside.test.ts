import assert from "node:assert/strict";
import { mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { base } from "../testing/scripted-scaffold.ts";
import { listenInside } from "./listen-inside.ts";

for (const kind of ["folder", "link"])
  test(`a server listens although a program left a ${kind} in place of its socket`, async (t) => {
    const root = base(t);
    const [folder, socket] = [join(root, "gateway"), join(root, "gateway/supervisor.sock")];
    mkdirSync(folder);
    if (kind === "folder") mkdirSync(join(socket, "full"), { recursive: true });
    else symlinkSync(root, socket);
    const server = createServer();
    t.after(() => server.close());
    await listenInside(root, server, "gateway/supervisor.sock");
    assert.ok(statSync(socket).isSocket());
    assert.equal(readdirSync(folder).length, 2, "what was in the way has another name");
  });
