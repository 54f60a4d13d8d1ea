// An image without any program of its own, into which this host's system folders are shown read-only: the same
// programs run inside as outside, nothing is pulled or built, and nothing of the host is seen but what it installed.
// Never the host's /etc as a whole, /root, /home, /var or /run.
import { existsSync, realpathSync } from "node:fs";
import { systemPaths } from "@mlrb/core/ports/system-paths";
import { writeTar } from "./write-tar.ts";

/** The user whom programs of a sandbox run as where the harness is root; nobody's number outside. */
const agentUser = 61_000;

/** Host paths that are shown at their own places. */
export function hostFolders(): string[] {
  return ["/usr", ...systemPaths].filter((path) => existsSync(path));
}

/** Why this host's folders cannot be shown so; undefined where they can. */
export function hostImageRefusal(): string | undefined {
  if (process.platform === "linux" && realpathSync("/bin") === "/usr/bin") return undefined;
  return (
    "this host's programs are not in /usr, so a container cannot show them; " +
    "name an image by `image:` (a Dockerfile, or one by digest)"
  );
}

/** The whole image as a tar archive: always the same bytes. */
export function hostImageTar(): Uint8Array {
  const folders = ["etc", "etc/ssl", "dev", "proc", "sys", "tmp", "usr", "var", "run", "sbin"];
  return writeTar([
    ...folders.map((path) => ({ path, kind: "folder" as const, mode: path === "tmp" ? 0o1777 : 0o755 })),
    ...["bin", "lib", "lib32", "lib64", "libx32"].map((path) => ({
      path,
      kind: "link" as const,
      to: `usr/${path}`,
    })),
    // a folder and no link: the engine shows its own init program at /sbin/docker-init, which a mounted /usr
    // would hide. ctypes of Python calls ldconfig by this path.
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
