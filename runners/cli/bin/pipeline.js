// The way in. JavaScript, because the compile cache must be on before the first TypeScript is read:
// without it every start pays for stripping types again (0.1 s and 30 MB).
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const cache = `${modules}/.cache/mlrb`;
if (existsSync(modules)) {
  const warm = fileURLToPath(new URL("./warm.js", import.meta.url));
  if (!existsSync(cache)) spawnSync(process.execPath, [warm, cache], { stdio: "ignore", timeout: 60_000 });
  enableCompileCache(cache);
}
await import("../src/main.ts");
