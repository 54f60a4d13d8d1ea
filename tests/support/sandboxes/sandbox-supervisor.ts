// A supervisor that a test can kill: opens a sandbox with the given module, runs one program in it and waits. With
// `freezes` it freezes the sandbox at the program's first output, and reports that.
//   node sandbox-supervisor.ts MODULE '{"options":{…},"argv":[…],"freezes":false}'
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SandboxMaker } from "./sandbox-lab.ts";

const [module, given] = process.argv.slice(2);
const { options, argv, freezes } = JSON.parse(given!);
const { open } = (await import(module!)) as SandboxMaker;
const sandbox = await open(options);
const blank = join(options.under, "..", "blank");
mkdirSync(blank, { recursive: true });
await sandbox.put(blank, "workspace");
await sandbox.exec({
  argv,
  cwd: sandbox.seenAs("workspace"),
  env: { PATH: "/usr/bin:/bin" },
  onOutput() {
    if (freezes) void sandbox.freeze().then((frozen) => console.log(frozen ? "frozen" : "not stopped"));
  },
});
setInterval(() => {}, 1000); // the program's descendants keep running, and so does the supervisor
