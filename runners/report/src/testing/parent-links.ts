// Finds broken links in exports: readers of both formats accept them and show events in the wrong place, or nowhere.

// biome-ignore lint/suspicious/noExplicitAny: exports are in other projects' formats
type Any = any;

/** Of a sample of an Inspect log. Empty if each link names an earlier event and each event of a member lies in its span. */
export function inspectLinkProblems({ events }: Any): string[] {
  const problems: string[] = [];
  const spans = new Map<string, { name: string; type: string; parent?: string; ended: boolean }>();
  const memberOf = (one: Any): string | undefined => one.data?.member ?? one.metadata?.member;
  const members = new Set(events.map(memberOf));
  const isMembers = ({ name, type, parent }: Any) =>
    type === "agent" && parent === undefined && members.has(name);
  const above = (id: string): string[] => {
    const { parent } = spans.get(id) ?? {};
    return parent === undefined ? [id] : [id, ...above(parent)];
  };
  for (const one of events as Any[]) {
    const { event, id, uuid, span_id: span, parent_id: parent } = one;
    if (event === "span_begin") {
      if (spans.has(id)) problems.push(`span ${id} begins again`);
      else if (parent !== undefined && !spans.has(parent))
        problems.push(`the parent ${parent} of span ${id} is no earlier event`);
      else spans.set(id, { name: one.name, type: one.type, parent, ended: false });
      continue;
    }
    if (event === "span_end") {
      const own = spans.get(id);
      if (!own || own.ended) problems.push(`span ${id} ends without a begin`);
      else own.ended = true;
      continue;
    }
    if (span !== undefined && !spans.has(span)) {
      problems.push(`event ${uuid} lies in span ${span}, which is no earlier event`);
      continue;
    }
    const member = memberOf(one);
    const within = (span === undefined ? [] : above(span)).map((each) => spans.get(each)!);
    const names = within.filter(isMembers).map(({ name }) => name);
    if (names.join() !== (member ?? ""))
      problems.push(
        `event ${uuid} of ${member ?? "no member"} lies in the span of ${names.join() || "none"}`,
      );
  }
  for (const [id, { ended }] of spans) if (!ended) problems.push(`span ${id} has no end`);
  return problems;
}

/** Of an ATIF document: a reference names a trajectory that is embedded next to it, and each of these has one. */
export function atifLinkProblems(document: Any): string[] {
  const ids = new Set<string>();
  const of = (one: Any, members: string[]): string[] => {
    const { trajectory_id: id, steps, subagent_trajectories: embedded = [] } = one;
    const problems = ids.has(id) ? [`trajectory ${id} is there twice`] : [];
    ids.add(id);
    const results = steps.flatMap(({ observation }: Any) => observation?.results ?? []);
    const refs = results.flatMap((result: Any) =>
      (result.subagent_trajectory_ref ?? []).map(({ trajectory_id: to }: Any) => to),
    );
    const known = embedded.map(({ trajectory_id: to }: Any) => to);
    if (JSON.stringify([...refs].sort()) !== JSON.stringify([...known].sort()))
      problems.push(`${id} refers to ${refs.join()}, but holds ${known.join()}`);
    for (const { step_id: number, tool_calls: calls = [], observation, extra } of steps) {
      const own = calls.map(({ tool_call_id: call }: Any) => call);
      for (const { source_call_id: call } of observation?.results ?? [])
        if (call !== undefined && !own.includes(call))
          problems.push(`step ${number} of ${id} made no call ${call}`);
      if (extra?.member !== undefined && !members.includes(extra.member))
        problems.push(`step ${number} of ${extra.member} lies in ${id}`);
    }
    return [...problems, ...embedded.flatMap((each: Any) => of(each, [...members, each.trajectory_id]))];
  };
  return of(document, []);
}
