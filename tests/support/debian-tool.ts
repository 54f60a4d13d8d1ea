// Fault tests need tools that a machine may lack. Where this is Debian and the tests run as root, they are
// fetched; elsewhere the test is skipped and says why.
import { spawnSync } from "node:child_process";

/** False when `program` can be run, else the reason why it cannot: what node:test takes as `skip`. */
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
