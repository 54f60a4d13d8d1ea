// A scorer's program that is installed in a home folder, as elan installs Lean, works inside walls and in a
// container, and shows nothing else of the home folder.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { type Lab, lab } from "./support/lab.ts";
import { type TestEngine, testEngine } from "./support/machines/docker-engine.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
let engine: TestEngine;
let why: string | false = false;
before(async () => {
  const started = await testEngine();
  if ("skip" in started) why = started.skip;
  else engine = started;
});
after(async () => {
  await engine?.stop();
  repository.remove();
});

/** A stand-in for Lean that reads a file of its toolchain, behind a link on the PATH, and files that must stay hidden. */
function homeWithLean(at: Lab): string {
  const home = join(at.outside, "home");
  const toolchain = join(home, ".elan/toolchains/v4.9.0");
  for (const folder of ["bin", "lib/lean"]) mkdirSync(join(toolchain, folder), { recursive: true });
  writeFileSync(join(toolchain, "lib/lean/Init.olean"), "proved\n");
  const program = '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../lib/lean/Init.olean"\n';
  writeFileSync(join(toolchain, "bin/lean"), program, { mode: 0o755 });
  for (const folder of [".elan/bin", ".ssh"]) mkdirSync(join(home, folder));
  symlinkSync("../toolchains/v4.9.0/bin/lean", join(home, ".elan/bin/lean"));
  for (const secret of [".ssh/id", ".elan/settings.toml", ".elan/bin/deploy"])
    writeFileSync(join(home, secret), "secret");
  chmodSync(home, 0o700);
  return home;
}

const named = {
  "by its name on the PATH": () => "lean",
  "by its path": (home: string) => join(home, ".elan/bin/lean"),
};

for (const executor of ["local", "docker"])
  for (const [how, program] of Object.entries(named))
    test(`${executor}: a program in a home folder, named ${how}, finds its libraries and shows no other file`, {
      timeout: 120_000,
    }, async (t) => {
      if (executor === "docker" && why !== false) return t.skip(why);
      const at = lab(t, repository);
      const home = homeWithLean(at);
      at.define({
        stages: {
          score: {
            ...{ opens: "untrusted", executor, programs: true },
            env: { MLRB_SCORER_COMMAND: program(home) },
            command: `{ $MLRB_SCORER_COMMAND; cd ${home} && find . -type f | sort; } | tee {outputs.score}`,
            gives: { score: "file" },
          },
        },
      });
      const env = {
        HOME: home,
        PATH: `${process.env.PATH}${delimiter}${join(home, ".elan/bin")}`,
        ...(executor === "docker" && {
          DOCKER_HOST: engine.env.DOCKER_HOST!,
          MLRB_CONTAINER_ENGINE: "docker",
        }),
      };
      const said = await at.pipeline(["run", at.name, "--json", "--root", at.root], { env });
      const log = await at.pipeline(["log", "score", "--root", at.root], { env });
      assert.equal(said.code, 0, said.stdout + said.stderr + log.stdout + log.stderr);
      const lines = log.stdout.split("\n").filter((line) => !/^(mlrb:|==|$)/.test(line));
      assert.deepEqual(lines, [
        "proved",
        ...["bin/lean", "lib/lean/Init.olean"].map((name) => `./.elan/toolchains/v4.9.0/${name}`),
      ]);
    });
