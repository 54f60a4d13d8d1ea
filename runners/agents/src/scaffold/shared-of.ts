// Makes the state that the conversations of one attempt share.
import { tmpdir } from "node:os";
import type { Shared } from "./converse.ts";
import { notes } from "./notes.ts";
import { deadlineNotices } from "./notices.ts";
import type { ScaffoldRequest } from "./scaffold.ts";
import { patience } from "./tool.ts";

export function sharedOf(request: ScaffoldRequest): Shared {
  const { sandbox, cwd, env, network, meter, signal, write } = request;
  const due = request.noticesDue ?? deadlineNotices(meter);
  const all: string[] = [];
  return {
    request,
    world: {
      ...{ sandbox, cwd, env, network, meter, signal, write, patience },
      notes: notes(),
      files: { count: 0 },
      scratch: request.scratch ?? tmpdir(),
      warned: { emptySubmission: false },
    },
    turns: { count: 0 },
    notices: { all, look: () => void all.push(...due()) },
  };
}
