// `report --open`: serves the page of the last results with the records of its attempts, until Ctrl-C.
import { join } from "node:path";
import { page } from "@mlrb/report/page/page";
import { openAddress } from "../show/open-file.ts";
import { readReport } from "../show/read-report.ts";
import { type PageRequest, pageData } from "./page-data.ts";
import { type ServedAttempt, servePage } from "./page-server.ts";
import { readAttempt } from "./read-attempt.ts";

/** The exit code; undefined where report.json cannot be read, so that only its page can be opened. */
export async function serveReport(request: PageRequest): Promise<number | undefined> {
  const reading = readReport(join(request.folder, "report.json"));
  if (reading.kind !== "ok") return undefined;
  const data = await pageData({ ...request, report: reading.value });
  const { state, attempts: records } = request.workspace;
  const attempts = new Map<string, ServedAttempt>();
  for (const digest of data.instances.flatMap(({ made }) => made?.record ?? [])) {
    const folder = join(state.attempts, "records", digest);
    const found = { kind: "record", digest, folder, record: records.read(digest) } as const;
    attempts.set(digest, { folder, source: () => readAttempt(found, { state, records }) });
  }
  const { address, close } = await servePage({ page: page({ ...data, served: true }), attempts });
  process.stdout.write(`\nserving ${address}\nread-only, only for this machine; Ctrl-C ends it\n`);
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => resolve());
  });
  const { problem, remove } = await openAddress(address);
  if (problem !== undefined)
    process.stderr.write(`not-opened: ${problem}\n  help: open ${address} yourself\n`);
  await stopped;
  remove();
  await close();
  return 0;
}
