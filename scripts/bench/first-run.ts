// The README's first command in a fresh clone of HEAD with an empty HOME, then with the environment in place, and
// `hello`. Each time also over the time of a fixed training on the same machine, since seconds of different machines
// and days do not compare. Takes half an hour. Needs the network, and about 12 GB of disk.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Bench, median, repository, run } from "./tools.ts";

/** What says where packages come from, and whose certificates are trusted, which an empty HOME lacks. */
const settings =
  /^(PATH|LANG|(https?|no)_proxy|PIP_\w+|npm_config_(registry|proxy|https_proxy)|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

export function benchFirstRun({ work, row }: Bench): void {
  const [clone, home] = [join(work, "clone"), join(work, "home")];
  mkdirSync(home);
  run("git", ["clone", "--quiet", repository, clone]);
  const kept = Object.entries(process.env).filter(([name]) => settings.test(name));
  const env = { ...Object.fromEntries(kept), HOME: home, TERM: "dumb" };
  const first = (what: string, pipeline: string, allowed: number) => {
    const begin = performance.now();
    const { status, stderr } = spawnSync(join(clone, "mlrb"), ["run", pipeline], {
      cwd: clone,
      env,
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    const seconds = (performance.now() - begin) / 1000;
    if (status !== 0) throw new Error(`./mlrb run ${pipeline}: exit ${status}\n${stderr.slice(-2000)}`);
    row(`first run, ${what}`, seconds, { against: `the allowed ${allowed} s`, other: allowed, target: 1 });
    row(`first run over a fixed training, ${what}`, seconds / fixedTrainingSeconds(clone), { unit: "×" });
  };
  /** Leaves the environments and the installed packages. */
  const forget = () => {
    for (const name of ["attempts", "cache", "journals", "leases", "work"])
      rmSync(join(clone, ".mlrb", name), { recursive: true, force: true });
    rmSync(join(clone, "results"), { recursive: true, force: true });
  };
  first("full-benchmark from nothing", "full-benchmark", 600);
  forget();
  first("full-benchmark with its environment", "full-benchmark", 420);
  forget();
  first("hello with its environment", "hello", 60);
}

/** The median of three trainings, with the torch that the run in `clone` installed. */
function fixedTrainingSeconds(clone: string): number {
  const torch = globSync(join(clone, ".mlrb/environments/*/lib/python*/site-packages/torch"))[0];
  if (torch === undefined) throw new Error(`${clone} holds no environment with torch`);
  const python = join(torch, "../../../../bin/python");
  const script = join(repository, "scripts/bench/fixed_training.py");
  return median(Array.from({ length: 3 }, () => Number(run(python, [script]))));
}
