// Makes a server listen in a sandbox's folder. The socket's address goes through the open folder's descriptor: the
// path of a state folder may exceed the 107 bytes of an address.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, lstat, rename, unlink } from "node:fs/promises";
import type { Server } from "node:net";
import { basename, dirname } from "node:path";
import { child, openInside } from "../folders/open-folder.ts";

/** What has the name is renamed, or removed if it is a socket. The socket is removed with the server, or with the folder. */
export async function listenInside(root: string, server: Server, inside: string): Promise<void> {
  const folder = await openInside(root, dirname(inside));
  const path = child(folder, Buffer.from(basename(inside))).toString();
  const { mode } = await folder.handle.stat();
  server.once("close", () => void folder.handle.close().catch(() => {})); // removes the socket's name through the folder
  try {
    await folder.handle.chmod(0o700); // it may have been given read-only
    const there = await lstat(path).catch(() => undefined);
    if (there?.isSocket())
      await unlink(path); // of a supervisor that was killed
    else if (there) await rename(path, `${path}.${randomBytes(8).toString("hex")}`); // of a program
    server.listen({ path });
    await once(server, "listening");
    await chmod(path, 0o666); // programs inside run as another user
  } catch (error) {
    if (!server.listening) await folder.handle.close();
    throw error;
  } finally {
    await folder.handle.chmod(mode & 0o777).catch(() => {});
  }
}
