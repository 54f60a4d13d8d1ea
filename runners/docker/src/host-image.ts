// An image without programs of its own, in which this host's system folders are mounted read-only. The same programs
// run inside as outside, nothing is pulled or built, and nothing of the host is visible but its installed software:
// never all of /etc, nor /root, /home, /var or /run.
import { existsSync, realpathSync } from "node:fs";
import { systemPaths } from "@mlrb/core/ports/system-paths";
import { writeTar } from "./write-tar.ts";

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
export function hostImageTar(): Uint8Array {
  const folders = ["etc", "etc/ssl", "dev", "proc", "sys", "tmp", "usr", "var", "run", "sbin"];
  return writeTar([
    ...folders.map((path) => ({ path, kind: "folder" as const, mode: path === "tmp" ? 0o1777 : 0o755 })),
    ...["bin", "lib", "lib32", "lib64", "libx32"].map((path) => ({
      path,
      kind: "link" as const,
      to: `usr/${path}`,
    })),
    // /sbin is a folder and no link: the engine mounts its init program at /sbin/docker-init, which a mounted /usr
    // would hide. Python's ctypes calls ldconfig by this path.
    { path: "sbin/ldconfig", kind: "link", to: "../usr/sbin/ldconfig" },
    {
      path: "etc/passwd",
      kind: "file",
      text: `root:x:0:0:root:/:/bin/sh\nagent:x:${agentUser}:${agentUser}::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n`,
    },
    { path: "etc/group", kind: "file", text: `root:x:0:\nagent:x:${agentUser}:\nnogroup:x:65534:\n` },
    { path: "etc/hosts", kind: "file", text: "127.0.0.1 localhost\n::1 localhost\n" },
    { path: "etc/nsswitch.conf", kind: "file", text: "passwd: files\ngroup: files\nhosts: files dns\n" },
  ]);
}
