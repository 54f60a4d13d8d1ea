// Refuses a program's request in the words of its provider's protocol.
import type { ServerResponse } from "node:http";
import type { Meter, OverBudget } from "../attempt/meter.ts";
import { providerError } from "./provider-error.ts";
import type { Route } from "./route-request.ts";

export function refuse(
  response: ServerResponse,
  { provider }: Pick<Route, "provider">,
  status: number,
  detail: string,
): void {
  if (response.headersSent) return void response.destroy();
  if (!response.req.complete) response.shouldKeepAlive = false; // the rest of the request is not read
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(providerError(provider.protocol, { status, detail }));
}

/** Whether the attempt's own budget is used up. If so, the program and the supervisor are notified. */
export function refuseOver(
  { meter, overBudget }: { meter: Pick<Meter, "over">; overBudget(over: OverBudget): void },
  route: Route,
  response: ServerResponse,
): boolean {
  const used = meter.over();
  if (used === undefined) return false;
  refuse(response, route, 402, `the attempt's budget is used up: ${used.detail}`);
  overBudget(used);
  return true;
}
