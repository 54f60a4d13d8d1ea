// A script that opens files of untrusted code starts with compiled imports, and can change them for no later script.
import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { wallsMissing } from "@mlrb/local/process/walls";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const missing = await wallsMissing();

const script = `
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { stage } from "@mlrb/kit/stage";
import { twice } from "./twice.ts";

const cache = getCompileCacheDir()!;
const attempted = (act: () => unknown) => {
  try {
    act();
    return "done";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};
if (process.argv[1] !== import.meta.filename) writeFileSync(join(import.meta.dirname, "ran-outside"), "");
const [first] = readdirSync(cache);
writeFileSync(stage().outputs.found!, "");
console.log(JSON.stringify({
  twice: twice(1),
  stripped: process.moduleLoadList.some((name) => name.includes("amaro")),
  cached: readdirSync(cache).filter((name) => attempted(() => readFileSync(join(cache, name))) === "done").length,
  added: attempted(() => writeFileSync(join(cache, "added"), "")),
  replaced: attempted(() => writeFileSync(join(cache, first!), "")),
}));
`;

test("its compiled imports are there, and it can neither add to them nor replace one", {
  skip: missing ?? false,
}, async (t) => {
  const at = lab(t, repository);
  at.script("twice.ts", "export const twice = (value: number): number => 2 * value;\n");
  const file = at.script("opens.ts", script);
  at.define({
    stages: { opens: { opens: "untrusted", script: file, gives: { found: { file: "found.json" } } } },
  });
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const log = (await at.pipeline(["log", "opens", "--root", at.root])).stdout;
  const found = JSON.parse(/^\{.*\}$/m.exec(log)![0]);
  assert.equal(found.twice, 2);
  assert.equal(found.stripped, false, "the types of all its code were stripped before");
  assert(!existsSync(join(repository.path, dirname(file), "ran-outside")));
  for (const end of [found.added, found.replaced]) assert.match(end, /^(EROFS|EACCES|EPERM)$/);
  const folder = join(at.root, ".mlrb/cache/memory/node-opens");
  const [version] = readdirSync(folder);
  const compiled = readdirSync(join(folder, version!));
  assert.equal(found.cached, compiled.length);
  assert.ok(compiled.length > 10);
  for (const name of compiled) assert.ok(statSync(join(folder, version!, name)).size > 0, name);
});
