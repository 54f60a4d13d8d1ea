// Makes a server listen in a sandbox's folder. The socket's address goes through the open folder: a path of a state
// folder may be longer than the 107 bytes that an address may have.
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import type { Server } from "node:net";
import { basename, dirname } from "node:path";
import { child, openInside } from "../folders/open-folder.ts";

/** Throws where the name is taken. The socket goes with the server, or with the folder. */
export async function listenInside(root: string, server: Server, inside: string): Promise<void> {
  const folder = await openInside(root, dirname(inside));
  const path = child(folder, Buffer.from(basename(inside))).toString();
  const { mode } = await folder.handle.stat();
  server.once("close", () => void folder.handle.close().catch(() => {})); // the socket's name is removed through it
  try {
    await folder.handle.chmod(0o700); // it may have been given read-only
    server.listen({ path });
    await once(server, "listening");
    await chmod(path, 0o666); // whoever runs inside is another user
  } catch (error) {
    if (!server.listening) await folder.handle.close();
    throw error;
  } finally {
    await folder.handle.chmod(mode & 0o777).catch(() => {});
  }
}
