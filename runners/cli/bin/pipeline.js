// The way in. JavaScript, because the compile cache must be on before the first TypeScript is read:
// without it every start pays for stripping types again (0.1 s and 30 MB).
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

if (Number.parseInt(process.versions.node, 10) < 26) {
  console.error(`mlrb needs Node 26, which it installs itself, and this is ${process.version}: type ./mlrb`);
  process.exit(2);
}

const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const cache = `${modules}/.cache/mlrb`;
if (existsSync(modules)) {
  const warm = fileURLToPath(new URL("./warm.js", import.meta.url));
  if (!existsSync(cache)) spawnSync(process.execPath, [warm, cache], { stdio: "ignore", timeout: 60_000 });
  module.enableCompileCache({ directory: cache, portable: true });
}

// Finds the modules of runners/ by their names alone, which is what `exports` in their package.json say: Node's own
// search takes a fifth of the time of a short command (several stats and links for each of 600 imports). What is not
// there is left to Node, whose error names the importing file.
const runners = new URL("../../", import.meta.url).href;
module.registerHooks({
  resolve(name, context, next) {
    const [, folder, rest] = /^@mlrb\/(\w+)\/(.+)$/.exec(name) ?? [];
    const isBeside = /^\..*\.ts$/.test(name) && context.parentURL?.startsWith(runners);
    if (!folder && !isBeside) return next(name, context);
    const url = folder ? `${runners}${folder}/src/${rest}.ts` : new URL(name, context.parentURL).href;
    if (!existsSync(fileURLToPath(url))) return next(name, context);
    return { url, format: "module-typescript", shortCircuit: true };
  },
});
await import("../src/main.ts");
