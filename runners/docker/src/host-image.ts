// An image without programs of its own, in which this host's system folders are mounted read-only. The same
// programs run inside as outside, nothing is pulled or built, and nothing of the host is visible but its installed
// software: never all of /etc, nor /root, /home, /var or /run.
import { existsSync, realpathSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { systemPaths } from "@mlrb/core/ports/system-paths";
import { type Header, pack } from "tar-stream";

/** The user of a sandbox's programs if the harness is root; the id is unused outside. */
const agentUser = 61_000;

/** Host folders that are mounted at their own paths. */
export function hostFolders(): string[] {
  return ["/usr", ...systemPaths].filter((path) => existsSync(path));
}

/** Why this host's folders cannot be mounted; undefined if they can. */
export function hostImageRefusal(): string | undefined {
  if (process.platform === "linux" && realpathSync("/bin") === "/usr/bin") return undefined;
  return (
    "this host's programs are not in /usr, so a container cannot show them; " +
    "name an image by `image:` (a Dockerfile, or one by digest)"
  );
}

/** The image as a tar archive: always the same bytes. */
export async function hostImageTar(): Promise<Uint8Array> {
  const archive = pack();
  const add = (entry: Partial<Header> & { name: string }, text = "") =>
    archive.entry({ ...entry, mtime: new Date(0) }, text);
  for (const name of ["etc", "etc/ssl", "dev", "proc", "sys", "tmp", "usr", "var", "run", "sbin"])
    add({ name: `${name}/`, type: "directory", mode: name === "tmp" ? 0o1777 : 0o755 });
  for (const name of ["bin", "lib", "lib32", "lib64", "libx32"])
    add({ name, type: "symlink", linkname: `usr/${name}` });
  // /sbin is a folder and no link: the engine mounts its init program at /sbin/docker-init, which a mounted /usr
  // would hide. Python's ctypes calls ldconfig by this path.
  add({ name: "sbin/ldconfig", type: "symlink", linkname: "../usr/sbin/ldconfig" });
  const agent = `agent:x:${agentUser}`;
  add(
    { name: "etc/passwd" },
    `root:x:0:0:root:/:/bin/sh\n${agent}:${agentUser}::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n`,
  );
  add({ name: "etc/group" }, `root:x:0:\n${agent}:\nnogroup:x:65534:\n`);
  add({ name: "etc/hosts" }, "127.0.0.1 localhost\n::1 localhost\n");
  add({ name: "etc/nsswitch.conf" }, "passwd: files\ngroup: files\nhosts: files dns\n");
  archive.finalize();
  return await buffer(archive);
}
