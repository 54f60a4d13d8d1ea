// How long services ran, in words. Their GPU hours are in no attempt's.
import type { ServiceTotal } from "@mlrb/local/services/service-hours";

/** A line for each service: `now` is this run, `all` are all runs of the pipeline and profile. */
export function serviceWords(now: ServiceTotal[], all: ServiceTotal[]): string[] {
  return now.map(({ service, hours, gpuHours }) => {
    const total = all.find((one) => one.service === service)!.gpuHours;
    const more = total > gpuHours ? ` (${amount(total)} in all runs)` : "";
    return `services: ${service} ${amount(hours)} h, ${amount(gpuHours)} GPU hours${more}; attempts' GPU hours do not include them`;
  });
}

function amount(hours: number): string {
  return hours === 0 ? "0" : hours < 0.01 ? hours.toFixed(4) : hours.toFixed(2);
}
