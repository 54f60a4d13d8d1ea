// What a reader cites: the benchmark's paper, and this software at the commit that wrote the page. CITATION.cff has
// the same facts, and a test compares them.
import { type Html, html } from "./html.ts";
import type { PageData } from "./page-data.ts";

export const paperBibtex = `@misc{kenney2024mlrb,
  title         = {{ML Research Benchmark}},
  author        = {Kenney, Matthew},
  year          = {2024},
  eprint        = {2410.22553},
  archivePrefix = {arXiv},
  primaryClass  = {cs.AI},
  doi           = {10.48550/arXiv.2410.22553}
}`;

/** `note`: which state of the software. */
export function softwareBibtex(note: string): string {
  return `@software{mlrb,
  title  = {mlrb: a harness for the ML Research Benchmark},
  author = {{The mlrb contributors}},
  note   = {${note}}
}`;
}

export function citePart({ report, commit }: Pick<PageData, "report" | "commit">): Html {
  const note = commit === null ? "Commit unknown" : `Commit ${commit}`;
  return html`<details class="cite"><summary>Cite this</summary>
<p>${report.note} Cite the paper for the benchmark and the software for how the numbers were made. Name model, scaffold, dates and profile.</p>
<pre>${paperBibtex}\n\n${softwareBibtex(note)}</pre></details>
`;
}
