// The way in. JavaScript, because the compile cache must be on before the first TypeScript is read:
// without it every start pays for stripping types again (0.1 s and 20 MB).
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
if (existsSync(modules)) enableCompileCache(`${modules}/.cache/mlrb`);
await import("../src/main.ts");
