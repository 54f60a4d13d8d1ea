// The folder of one Slurm job, through which its runner and the job speak; see the formats. It lies in the folder
// of the run that submitted the job, and is removed with it.
import { existsSync, fstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { readFormat } from "@mlrb/formats/read-format";
import {
  type SlurmClaim,
  type SlurmDone,
  type SlurmJob,
  slurmClaim,
  slurmDone,
  slurmId,
  slurmJob,
} from "@mlrb/formats/stage/slurm-job";
import { isOpenJob, jobsFolder } from "@mlrb/kit/attempts/open-job";
import { createOnce } from "@mlrb/kit/files/create-once";
import { openedFile } from "@mlrb/kit/files/opened-file";
import { writeJson } from "@mlrb/kit/json-file";
import { quiet } from "@mlrb/kit/processes/process-table";

export class JobFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** `folder` is the run's. */
  static make(folder: string, job: SlurmJob, request: ExecutionRequest): JobFolder {
    const path = join(folder, jobsFolder, job.job);
    mkdirSync(path, { recursive: true, mode: 0o700 }); // the request holds the stage's variables
    const made = new JobFolder(path);
    made.takes(request);
    writeJson(join(path, "job.json"), job);
    return made;
  }

  /** Before the job is submitted. */
  takes(request: ExecutionRequest): void {
    writeJson(join(this.path, "request.json"), request);
  }

  /** Undefined once the job has removed it. */
  request(): ExecutionRequest | undefined {
    return quiet(() => JSON.parse(readFileSync(join(this.path, "request.json"), "utf8")) as ExecutionRequest);
  }

  get output(): string {
    return join(this.path, "slurm.out");
  }

  job(): SlurmJob | undefined {
    return read(slurmJob, join(this.path, "job.json"));
  }

  /** Of two submissions, the one that has begun. */
  id(): string | undefined {
    return this.begun()?.id ?? read(slurmId, join(this.path, "id.json"))?.id;
  }

  hasId(id: string): void {
    this.#say("id.json", { formatVersion: 1, id });
  }

  done(): SlurmDone | undefined {
    return read(slurmDone, join(this.path, "done.json"));
  }

  begun(): Extract<SlurmClaim, { kind: "begun" }> | undefined {
    const claim = read(slurmClaim, join(this.path, "claim.json"));
    return claim?.kind === "begun" ? claim : undefined;
  }

  /** Whether the job may be queued or running, or ended in a way that no supervisor has learned. */
  isOpen(): boolean {
    return isOpenJob(this.path);
  }

  /** Differs after each sign of life of a job that has begun. Opening the file makes a client of NFS ask its server. */
  beat(): string {
    const look = () => {
      using file = openedFile(join(this.path, "claim.json"), "r");
      return String(fstatSync(file.descriptor, { bigint: true }).mtimeNs);
    };
    return quiet(look) ?? "";
  }

  isGivenUp(): boolean {
    return read(slurmClaim, join(this.path, "claim.json"))?.kind === "given-up";
  }

  /** The job looks for this itself: it needs no controller. */
  end(signal: "TERM" | "USR2"): void {
    this.#say("end.json", { formatVersion: 1, signal });
  }

  /**
   * Keeps the job from beginning; false if it has begun, or if that cannot be known now. A job whose folder is
   * gone neither begins nor goes on. Throws where the disk takes no file.
   */
  giveUp(): boolean {
    const path = join(this.path, "claim.json");
    // looked at first: a file that is made for nothing would wake who watches the folder
    if (!existsSync(path)) {
      try {
        if (createOnce(path, { kind: "given-up", formatVersion: 1 } satisfies SlurmClaim)) return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT" && !existsSync(this.path)) return true;
        throw error;
      }
    }
    return this.isGivenUp();
  }

  /** Of use, but not needed: without it the job is found by its name, and ended by Slurm. */
  #say(name: string, value: unknown): void {
    quiet(() => writeJson(join(this.path, name), value)); // a full disk is reported by what needs the disk
  }

  /** The end of what Slurm and the job's own program have printed. */
  said(): string {
    return quiet(() => readFileSync(this.output, "utf8").slice(-10_000)) ?? ""; // not even begun
  }
}

/** Undefined for a file that is missing or torn: files of a network file system appear late. */
function read<const Schema extends object>(schema: Schema, path: string) {
  const text = quiet(() => {
    readdirSync(dirname(path)); // opening a folder makes a client of NFS ask its server for new files
    return readFileSync(path, "utf8");
  });
  const reading = text === undefined ? undefined : readFormat(schema, text);
  return reading?.kind === "ok" ? reading.value : undefined;
}
