// Which GPUs the attempts held, and how fast this host is. Attempts on other hardware did another amount of work
// in the same time.
import type { Report } from "@mlrb/formats/report";
import { cooperativeCap, type ReportHardware } from "@mlrb/formats/report/hardware";
import { gpuClasses, withoutGpu } from "../read/gpu-words.ts";
import { digitsText } from "../sections/digits-text.ts";
import type { Section } from "../sections/table.ts";
import { column, noNumber, numeric, oneGroup, tableSection } from "../sections/table-of.ts";

type HardwareRow = { name: string; attempts: number; speed: ReportHardware | undefined };

/** Empty without a calibration if no attempt held a GPU. */
export function hardwareSection(report: Report): Section {
  const about = {
    heading: "Hardware",
    caption:
      "GPUs that attempts held, and the calibration of the host that made this report: a fixed small model is trained, " +
      "and memory is copied. Relative compute is its training speed over that of the reference host; without one it " +
      "is 1. Other hosts have a calibration in their own reports. Values of a CPU and of a GPU come from different models.",
  };
  return tableSection(about, oneGroup(rowsOf(report)), [
    column("GPUs", ({ name }) => name),
    numeric("attempts", ({ attempts }) => String(attempts)),
    speed("training, tokens/s", 0, ({ tokensPerSecond }) => tokensPerSecond),
    speed("memory, GB/s", 1, ({ bytesPerSecond }) => bytesPerSecond / 1e9),
    speed("relative compute", 2, relativeCompute),
  ]);
}

function rowsOf(report: Report): HardwareRow[] {
  const { hardware } = report;
  const classes = gpuClasses(report);
  if (!hardware && report.attempts.every(({ gpus }) => gpus === undefined)) return [];
  const device = hardware && (hardware.device === "cpu" ? withoutGpu : hardware.device);
  const rows = classes.map(({ name, attempts }) => ({
    ...{ name, attempts },
    speed: isDevice(name, device) ? hardware : undefined,
  }));
  const unused = device !== undefined && !classes.some(({ name }) => isDevice(name, device));
  return unused ? [...rows, { name: device, attempts: 0, speed: hardware }] : rows;
}

/** A cap on memory does not change the speed of a device. */
function isDevice(name: string, device: string | undefined): boolean {
  return device !== undefined && (name === device || name.startsWith(`${device} (${cooperativeCap} `));
}

function relativeCompute({ tokensPerSecond, referenceTokensPerSecond }: ReportHardware): number {
  return tokensPerSecond / (referenceTokensPerSecond ?? tokensPerSecond);
}

function speed(head: string, digits: number, value: (speed: ReportHardware) => number) {
  return numeric(head, ({ speed }: HardwareRow) => (speed ? digitsText(value(speed), digits) : noNumber));
}
