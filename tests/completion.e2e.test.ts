// What shells get and ask for completion, through the program and through bash.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Lab, lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

function words(at: Lab): void {
  at.define({
    axes: { word: ["alpha", "beta"] },
    profiles: { plain: { default: true }, other: {} },
    stages: { make: { each: ["word"], command: "true" }, mend: { command: "true" } },
  });
}

test("complete lists pipelines, profiles, stages and axes of the repository, and skips broken files", async (t) => {
  const at = lab(t, repository);
  words(at);
  const complete = async (...typed: string[]) => {
    const said = await at.pipeline(["complete", "--", ...typed]);
    assert.equal(said.code, 0, said.stderr);
    return said.stdout;
  };
  assert.match(await complete("run", ""), new RegExp(`^${at.name}$`, "m"));
  assert.equal(await complete("run", at.name, "--profile", ""), "plain\nother\n");
  assert.equal(await complete("run", at.name, "--only", "m"), "make\nmend\n");
  assert.equal(await complete("run", at.name, "--set", "word="), "word=alpha\nword=beta\n");
  assert.match(await complete("stat"), /^status\t.+\n$/);
  repository.write(`pipelines/${at.name}.yaml`, "stages: {");
  assert.equal(await complete("run", at.name, "--only", "m"), "");
});

test("bash completes pnpm pipeline from anywhere in a checkout, and leaves the rest of pnpm unchanged", async (t) => {
  if (spawnSync("bash", ["--version"]).status !== 0) return t.skip("there is no bash");
  const at = lab(t, repository);
  words(at);
  const script = await at.pipeline(["completion", "bash"]);
  assert.equal(script.code, 0);
  writeFileSync(join(at.outside, "completion.bash"), script.stdout);
  const asks = `
before() { COMPREPLY=(before); }
complete -F before pnpm
source '${at.outside}/completion.bash'
source '${at.outside}/completion.bash'
ask() {
  COMP_LINE="$1" COMP_POINT=\${#1} COMPREPLY=()
  read -r -a COMP_WORDS <<< "$1"
  [[ "$1" == *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  _mlrb_pnpm pnpm
  echo "\${COMPREPLY[*]}"
}
ask "pnpm pipeline stat"
ask "pnpm pipeline run ${at.name} --set word=al"
ask "pnpm pipeline run ${at.name} --profile "
ask "pnpm inst"
`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", asks], {
    cwd: join(repository.path, "pipelines"),
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: at.outside },
  });
  assert.equal(stdout, "status\nalpha\nplain other\nbefore\n", stderr);
});

test("zsh and fish scripts are printed too, and an unknown shell is refused", async (t) => {
  const at = lab(t, repository);
  for (const shell of ["zsh", "fish"]) {
    const said = await at.pipeline(["completion", shell]);
    assert.equal(said.code, 0);
    assert.match(said.stdout, /runners\/cli\/bin\/pipeline\.js" complete -- /);
    const parsed = spawnSync(shell, ["-n"], { input: said.stdout, encoding: "utf8" });
    if (!parsed.error) assert.equal(parsed.status, 0, parsed.stderr);
  }
  const odd = await at.pipeline(["completion", "bsh"]);
  assert.equal(odd.code, 2);
  assert.match(odd.stderr, /unknown-shell: .*"bsh"\n {2}help: did you mean "bash"\?/);
});
