// Runs admission of one folder in a process of its own and measures it:
//   node measured-admission.ts FOLDER
// prints its codes, the peak of its memory, and the bytes that it read.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { admit } from "../admit-submission.ts";

export type MeasuredAdmission = { codes: string[]; peakBytes: number; readBytes: number };

/** Linux only: /proc counts. */
export function measuredAdmission(folder: string): MeasuredAdmission {
  const script = fileURLToPath(import.meta.url);
  return JSON.parse(execFileSync(process.execPath, [script, folder], { encoding: "utf8", timeout: 120_000 }));
}

function counted(file: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(file, "utf8"))![1]);
}

const bytesRead = () => counted("/proc/self/io", /^rchar: (\d+)$/m);
// the peak that getrusage reports includes the parent's memory at the fork
const peakBytes = () => counted("/proc/self/status", /^VmHWM:\s+(\d+) kB$/m) * 1024;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const before = bytesRead();
  const { reasons } = admit(process.argv[2]!);
  const measured: MeasuredAdmission = {
    codes: [...new Set(reasons.map(({ code }) => code))].sort(),
    peakBytes: peakBytes(),
    readBytes: bytesRead() - before,
  };
  console.log(JSON.stringify(measured));
}
