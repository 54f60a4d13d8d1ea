// Entries that are no plain files, and files that are code in disguise. What no loader opens is ignored.
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { byCalls, type HostileCase, weights, withFiles } from "./hostile-case.ts";

/** Runs a small Python program in the folder, for names and entries that Node cannot make. */
const python = (program: string) => (folder: string) => {
  execFileSync("python3", ["-c", program], { cwd: folder });
};

const link = (to: string, name: string, codes: string[]): HostileCase =>
  byCalls(`link-${name}-to-${to.replaceAll("/", "_")}`, codes, (folder) => {
    rmSync(join(folder, name), { force: true });
    symlinkSync(to, join(folder, name));
  });

const pipe = (name: string, codes: string[]): HostileCase =>
  byCalls(`pipe-${name}`, codes, (folder) => {
    rmSync(join(folder, name), { force: true });
    execFileSync("mkfifo", [join(folder, name)]);
  });

const folderNamed = (name: string, codes: string[]): HostileCase =>
  byCalls(`folder-named-${name}`, codes, (folder) => {
    rmSync(join(folder, name));
    mkdirSync(join(folder, name));
  });

const sparse = (name: string, codes: string[]): HostileCase =>
  byCalls(`sparse-terabyte-${name}`, codes, (folder) => {
    writeFileSync(join(folder, name), "", { flag: "a" });
    truncateSync(join(folder, name), 2 ** 40);
  });

/** First bytes of programs and of formats that hold programs. */
const disguises: Record<string, number[]> = {
  "pickle-2": [0x80, 2, 0x63],
  "pickle-4": [0x80, 4, 0x95],
  "pickle-5": [0x80, 5, 0x95],
  zip: [0x50, 0x4b, 3, 4],
  gzip: [0x1f, 0x8b, 8],
  elf: [0x7f, 0x45, 0x4c, 0x46],
  mach: [0xcf, 0xfa, 0xed, 0xfe],
  windows: [0x4d, 0x5a, 0x90, 0],
  script: [0x23, 0x21, 0x2f, 0x62],
  numpy: [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59],
  hdf5: [0x89, 0x48, 0x44, 0x46],
};

const disguised: HostileCase[] = [
  ...Object.entries(disguises).flatMap(([what, start]) => {
    const bytes = Buffer.concat([Buffer.from(start), Buffer.alloc(64)]);
    return [
      withFiles(`disguised-${what}-as-notes`, [], { "notes.txt": bytes }),
      withFiles(`disguised-${what}-as-weights`, ["safetensors"], { "model.safetensors": bytes }),
    ];
  }),
  withFiles("disguised-zip-as-tokenizer", ["settings"], {
    "tokenizer.json": Buffer.from([0x50, 0x4b, 3, 4]),
  }),
  withFiles("disguised-pickle-as-config", ["config"], {
    "config.json": Buffer.from([0x80, 4, 0x95]),
  }),
  withFiles("disguised-pickle-as-pieces", [], { "tokenizer.model": Buffer.from([0x80, 4, 0x95]) }),
  withFiles("zip-after-weights", ["safetensors"], {
    "model.safetensors": Buffer.concat([weights, Buffer.from([0x50, 0x4b, 3, 4])]),
  }),
  ...[
    "pytorch_model.bin",
    "a/b/modeling_gpt2.py",
    "x.SO",
    "libx.so.1.2",
    "t.npz",
    "w.ckpt",
    "Y.Pkl",
    "m.zip",
  ].map((name) => withFiles(`code-by-name-${name.replaceAll("/", "_")}`, [], { [name]: "x" })),
];

const links: HostileCase[] = [
  link("/etc/passwd", "config.json", ["no-config", "odd-file"]),
  link("/dev/zero", "model.safetensors", ["no-weights", "odd-file"]),
  link("/proc/self/mem", "tokenizer.json", ["no-tokenizer", "odd-file"]),
  link("tokenizer.json", "again.json", []),
  link("nowhere", "dangling.json", []),
  link("self", "self", []),
  link(".", "loop", []),
  link("/", "root", []),
  byCalls("link-loop-of-two", [], (folder) => {
    symlinkSync("b", join(folder, "a"));
    symlinkSync("a", join(folder, "b"));
  }),
  byCalls("hard-link-to-weights", [], (folder) =>
    linkSync(join(folder, "model.safetensors"), join(folder, "same.safetensors")),
  ),
];

const names: HostileCase[] = [
  byCalls("name-not-utf-8", [], python(String.raw`open(b"\xff\xfe.txt", "w")`)),
  byCalls("name-with-line-feed", [], python(String.raw`open("a\nb", "w")`)),
  byCalls("name-with-escapes", [], python(String.raw`open("\x1b[2J\u202e", "w")`)),
  byCalls("name-code-after-line-feed", [], python(String.raw`open("a\n.py", "w")`)),
  byCalls("name-255-bytes", [], python('open("x" * 255, "w")')),
  byCalls("path-over-1024-bytes", [], python('import os; os.makedirs("/".join(["x" * 200] * 8))')),
  byCalls(
    "path-over-4096-bytes",
    [],
    python('import os\nfor at in range(60):\n    os.mkdir("x" * 200)\n    os.chdir("x" * 200)'),
  ),
  byCalls("folders-65-deep", [], python('import os; os.makedirs("/".join(["x"] * 66))')),
  byCalls(
    "folders-2-000-deep",
    [],
    python('import os\nfor at in range(2000):\n    os.mkdir("x")\n    os.chdir("x")'),
  ),
];

const counts: HostileCase[] = [
  byCalls("files-100-001", [], python('for at in range(100_001): open(f"f{at}", "w").close()'), {
    large: true,
  }),
  byCalls("code-files-10-000", [], python('for at in range(10_000): open(f"f{at}.py", "w").close()'), {
    large: true,
  }),
  byCalls("links-2-000", [], python('import os\nfor at in range(2000): os.symlink("/", f"l{at}")')),
  byCalls("empty", ["empty"], python("import os\nfor name in os.listdir(): os.remove(name)")),
  byCalls(
    "folders-only",
    ["empty"],
    python('import os\nfor name in os.listdir(): os.remove(name)\nos.mkdir("a")'),
  ),
];

export const hostileFiles: HostileCase[] = [
  ...links,
  ...names,
  ...counts,
  ...disguised,
  pipe("config.json", ["no-config", "odd-file"]),
  pipe("model.safetensors", ["no-weights", "odd-file"]),
  pipe("tokenizer.json", ["no-tokenizer", "odd-file"]),
  pipe("notes.txt", []),
  byCalls("socket", [], python('import socket; socket.socket(socket.AF_UNIX).bind("s")')),
  byCalls("device", [], (folder) => {
    if (process.getuid?.() !== 0) return "only root can make a device";
    try {
      execFileSync("mknod", [join(folder, "null"), "c", "1", "3"], { stdio: "ignore" });
    } catch {
      return "this container may not make devices";
    }
  }),
  folderNamed("config.json", ["no-config"]),
  folderNamed("model.safetensors", ["no-weights"]),
  folderNamed("tokenizer.json", ["no-tokenizer"]),
  sparse("config.json", ["config"]),
  sparse("tokenizer.json", ["settings"]),
  sparse("tokenizer.model", []),
  sparse("vocab.txt", []),
  sparse("merges.txt", []),
  sparse("model.safetensors", ["safetensors"]),
  sparse("notes.txt", []),
  withFiles("adapter", [], { "adapter_config.json": "{}" }),
];
