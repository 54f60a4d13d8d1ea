// The base of a test's image, since none can be pulled: this machine's Python with what it needs, and busybox. A
// folder to add to an image from scratch.
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Nothing that imports or makes environments needs these. */
const left =
  /\/(site-packages|dist-packages|test|tests|idlelib|lib2to3|turtledemo|tkinter|__pycache__|config-[^/]*)$/;

/** Writes the base to `folder`. Its pip installs only from `wheels`, by file name. */
export function pythonBase(folder: string, python: string, wheels: Record<string, Uint8Array>): void {
  const said = outputOf(python, ["-c", "import sys; print(sys.base_prefix, '%d.%d' % sys.version_info[:2])"]);
  const [prefix, version] = said.trim().split(" ") as [string, string];
  const program = realpathSync(python);
  const library = join(prefix, `lib/python${version}`);
  const put = (path: string) =>
    cpSync(path, join(folder, path), { recursive: true, filter: (one) => !left.test(one) });
  for (const path of [program, library]) put(path);
  if (prefix === "/usr") for (const path of globSync("/usr/share/python-wheels")) put(path);
  const compiled = [program, ...globSync(`${library}/lib-dynload/*.so`)];
  const needed = outputOf("ldd", compiled).matchAll(/(?:=> |^\t)(\/\S+) \(0x/gm);
  for (const path of new Set([...needed].map(([, path]) => path!)))
    cpSync(realpathSync(path), join(folder, realpathSync(dirname(path)), path.split("/").at(-1)!));
  mkdirSync(join(folder, "usr/bin"), { recursive: true });
  for (const name of ["bin", "lib", "lib64"]) symlinkSync(`usr/${name}`, join(folder, name));
  cpSync("/bin/busybox", join(folder, "usr/bin/busybox"));
  for (const name of ["sh", "env", "mkdir", "id", "cat", "ls"])
    symlinkSync("busybox", join(folder, "usr/bin", name));
  symlinkSync(program, join(folder, "usr/bin/python3"));
  for (const name of ["etc", "tmp", "wheels"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "etc/pip.conf"), "[global]\nno-index = true\nfind-links = /wheels\n");
  for (const [name, content] of Object.entries(wheels)) writeFileSync(join(folder, "wheels", name), content);
}

function outputOf(program: string, args: string[]): string {
  const { stdout, stderr, status } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args[0]}: ${stderr}`);
  return stdout;
}
