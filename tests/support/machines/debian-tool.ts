// Fault tests need tools that a machine may lack. On Debian and as root they are installed; elsewhere the test is
// skipped with a reason.
import { spawnSync } from "node:child_process";

/** False when `program` can run, otherwise the reason to skip, for node:test's `skip`. */
export function lacking(program: string, debianPackage: string): string | false {
  if (process.platform !== "linux") return `${program} is for Linux only`;
  if (isThere(program)) return false;
  if (process.getuid?.() !== 0) return `${program} is not installed, and only root could install it`;
  const install = () => spawnSync("apt-get", ["install", "-y", debianPackage], { encoding: "utf8" });
  if (install().status !== 0) {
    spawnSync("apt-get", ["update"]);
    const { stderr, error } = install();
    if (!isThere(program)) return `${program} cannot be installed: ${error?.message ?? stderr.trim()}`;
  }
  return false;
}

function isThere(program: string): boolean {
  return spawnSync("sh", ["-c", 'command -v "$0"', program]).status === 0;
}
