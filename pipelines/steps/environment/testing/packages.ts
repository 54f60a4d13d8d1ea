// Makes tiny Python packages in a folder, from which pip installs instead of an index: `PIP_FIND_LINKS=FOLDER
// PIP_NO_INDEX=1`. Python writes them, since it has zip and tar.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findPython } from "@mlrb/local/process/find-python";

export type Package = {
  name: string;
  version: string;
  /** The wheel's tag, or `sdist` for a source with its own builder and no dependencies. */
  tag?: string;
  /** The package's dependencies. */
  needs?: string[];
};

const writer = `
import io, json, sys, tarfile, zipfile
folder, packages = sys.argv[1], json.loads(sys.argv[2])
for p in packages:
    name, version, tag = p["name"], p["version"], p.get("tag", "py3-none-any")
    info = f"{name}-{version}.dist-info"
    meta = f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n"
    meta += "".join(f"Requires-Dist: {need}\\n" for need in p.get("needs", []))
    built = "py3-none-any" if tag == "sdist" else tag
    files = {
        f"{name}.py": f"version = {version!r}\\n",
        f"{info}/METADATA": meta,
        f"{info}/WHEEL": f"Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: {built}\\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\\n" for path in [*files, f"{info}/RECORD"])
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    wheel_name = f"{name}-{version}-{built}.whl"
    if tag != "sdist":
        open(f"{folder}/{wheel_name}", "wb").write(wheel.getvalue())
        continue
    builder = f"""
def build_wheel(folder, config_settings=None, metadata_directory=None):
    open(folder + "/{wheel_name}", "wb").write({wheel.getvalue()!r})
    return "{wheel_name}"
"""
    parts = {
        "PKG-INFO": meta,
        "pyproject.toml": '[build-system]\\nrequires = []\\nbuild-backend = "builder"\\nbackend-path = ["."]\\n',
        "builder.py": builder,
    }
    with tarfile.open(f"{folder}/{name}-{version}.tar.gz", "w:gz") as archive:
        for path, text in parts.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
`;

/** Makes a folder under `root` with the packages' files. `pin` returns the requirement line of a package. */
export function packageFolder(root: string, packages: Package[]) {
  const folder = mkdtempSync(join(root, "packages-"));
  const python = findPython(root)!.path;
  const { status, stderr } = spawnSync(python, ["-c", writer, folder, JSON.stringify(packages)], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`bug: ${stderr}`);
  return {
    folder,
    pin(name: string): string {
      const { version, tag = "py3-none-any" } = packages.find((one) => one.name === name)!;
      const file = tag === "sdist" ? `${name}-${version}.tar.gz` : `${name}-${version}-${tag}.whl`;
      const digest = createHash("sha256")
        .update(readFileSync(join(folder, file)))
        .digest("hex");
      return `${name}==${version} --hash=sha256:${digest}`;
    },
  };
}

/** Adds the installer's file, which `python`'s pip downloads, so that environments can be made from the folder. */
export function addInstaller(folder: string, python: string): void {
  const lock = join(import.meta.dirname, "../../../environments/installer.lock");
  const args = ["download", "--quiet", "--no-deps", "--require-hashes", "--dest", folder, "-r", lock];
  const { status, stderr } = spawnSync(python, ["-m", "pip", ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`pip download failed: ${stderr}`);
}

/** Variables that limit pip to the folder and hide this machine's settings. */
export function onlyFrom(folder: string): Record<string, string> {
  return { ...noPipSettings(), PIP_NO_INDEX: "1", PIP_FIND_LINKS: folder };
}

/** This process's variables without pip's variables and configuration files. */
export function noPipSettings(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (one): one is [string, string] => one[1] !== undefined && !/^(PIP_|UV_|MLRB_)/.test(one[0]),
  );
  return { ...Object.fromEntries(kept), PIP_CONFIG_FILE: "/dev/null", PIP_NO_CACHE_DIR: "1" };
}
