// Which GPUs the attempts held, and how fast this host is. Attempts on other hardware did another amount of work in the
// same time.
import type { Report } from "@mlrb/formats/report";
import { cooperativeCap, type ReportHardware } from "@mlrb/formats/report/hardware";
import { gpuClasses, withoutGpu } from "../read/gpu-words.ts";
import { digitsText } from "../sections/digits-text.ts";
import { type Section, type TableCell, textCell } from "../sections/table.ts";
import { column, noNumber, numeric, oneGroup, tableOf } from "../sections/table-of.ts";

type HardwareRow = { name: string; attempts: number; speed: ReportHardware | undefined };

/** Empty without a calibration if no attempt held a GPU. */
export function hardwareSection(report: Report): Section {
  return {
    heading: "Hardware",
    caption:
      "GPUs that attempts held, and the calibration of the host that made this report: a fixed small model is trained, " +
      "and memory is copied. Relative compute is its training speed over that of the reference host; without one it " +
      "is 1. Other hosts have a calibration in their own reports. Values of a CPU and of a GPU come from different models.",
    tables: [
      tableOf("", oneGroup(rowsOf(report)), [
        column("GPUs", ({ name }) => name),
        numeric("attempts", ({ attempts }) => String(attempts)),
        numeric(
          "training, tokens/s",
          speedCell(({ tokensPerSecond }) => tokensPerSecond, 0),
        ),
        numeric(
          "memory, GB/s",
          speedCell(({ bytesPerSecond }) => bytesPerSecond / 1e9, 1),
        ),
        numeric("relative compute", speedCell(relativeCompute, 2)),
      ]),
    ],
    items: [],
  };
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

function speedCell(value: (speed: ReportHardware) => number, digits: number) {
  return ({ speed }: HardwareRow): TableCell =>
    speed ? textCell(digitsText(value(speed), digits)) : noNumber;
}
