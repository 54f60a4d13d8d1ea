// The accounting of a test's Slurm: slurmdbd on a MariaDB of its own, both on loopback.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, until } from "../processes.ts";
import { lacking } from "./debian-tool.ts";

export type SlurmAccounting = { pids: number[] };

/** The lines of slurm.conf for accounting. */
export function accountingLines(folder: string, port: number): string[] {
  return [
    "AccountingStorageType=accounting_storage/slurmdbd",
    "AccountingStorageHost=127.0.0.1",
    `AccountingStoragePort=${port}`,
    `AccountingStoragePass=${folder}/munge.socket`,
  ];
}

/** Why this host cannot keep accounts; installs what is missing where it may. */
export function lackingAccounting(): string | false {
  return lacking("slurmdbd", "slurmdbd") || lacking("mariadbd", "mariadb-server");
}

/**
 * Starts both and registers the cluster. Throws where one does not start. `folder` holds munge.socket; `ports` are
 * for MariaDB and slurmdbd.
 */
export async function startAccounting(
  folder: string,
  { cluster, ports: [databasePort, port] }: { cluster: string; ports: [number, number] },
): Promise<SlurmAccounting> {
  const data = join(folder, "db");
  const socket = join(folder, "db.s");
  call("mariadb-install-db", [
    ...["--no-defaults", `--datadir=${data}`, "--user=root", "--skip-test-db"],
    "--auth-root-authentication-method=normal",
  ]);
  const database = daemon(folder, "mariadbd", [
    ...["--no-defaults", `--datadir=${data}`, `--socket=${socket}`, `--port=${databasePort}`, "--user=root"],
    ...["--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-log-bin", "--performance-schema=OFF"],
    ...["--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0"],
  ]);
  const sql = (text: string) =>
    spawnSync("mariadb", ["--no-defaults", `--socket=${socket}`, "--user=root", `--execute=${text}`]);
  await until("MariaDB", () => sql("select 1").status === 0);
  sql(
    "create database slurm; create user slurm@127.0.0.1 identified by 'slurm'; grant all on slurm.* to slurm@127.0.0.1",
  );
  const file = join(folder, "slurmdbd.conf");
  writeFileSync(file, `${configuration(folder, databasePort, port).join("\n")}\n`, { mode: 0o600 });
  const env = { ...process.env, SLURM_CONF: join(folder, "slurm.conf") };
  const keeper = daemon(folder, "slurmdbd", ["-D"], env);
  await until(
    "slurmdbd",
    () => spawnSync("sacctmgr", ["--noheader", "list", "cluster"], { env }).status === 0,
  );
  call("sacctmgr", ["--immediate", "add", "cluster", cluster], env);
  call("sacctmgr", ["--immediate", "add", "account", "lab"], env);
  call("sacctmgr", ["--immediate", "add", "user", "root", "account=lab"], env);
  return { pids: [keeper, database] };
}

export async function stopAccounting({ pids }: SlurmAccounting): Promise<void> {
  for (const pid of pids) {
    if (isRunning(pid)) process.kill(pid, "SIGKILL");
    await until("the end of the accounting", () => !isRunning(pid));
  }
}

function configuration(folder: string, databasePort: number, port: number): string[] {
  return [
    ...["AuthType=auth/munge", `AuthInfo=socket=${folder}/munge.socket`],
    ...["DbdHost=localhost", "DbdAddr=127.0.0.1", `DbdPort=${port}`, "SlurmUser=root"],
    ...[`PidFile=${folder}/slurmdbd.pid`, `LogFile=${folder}/log/slurmdbd`],
    ...["StorageType=accounting_storage/mysql", "StorageHost=127.0.0.1", `StoragePort=${databasePort}`],
    ...["StorageUser=slurm", "StoragePass=slurm", "StorageLoc=slurm"],
  ];
}

function daemon(folder: string, program: string, args: string[], env = process.env): number {
  const log = openSync(join(folder, "log", `${program}.out`), "a");
  const child = spawn(program, args, { detached: true, stdio: ["ignore", log, log], env });
  closeSync(log);
  child.unref();
  if (child.pid === undefined) throw new Error(`${program} does not start`);
  return child.pid;
}

function call(program: string, args: string[], env = process.env): void {
  const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stdout}${stderr}`);
}
