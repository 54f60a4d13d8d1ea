// A section of the report as HTML, with the same words as in the terminal and in Markdown. A number links to its
// details.
import type { About, Column, Section, Table, TableCell } from "../sections/table.ts";
import { type Html, html, idOf } from "./html.ts";

export function sectionHtml({ heading, caption, tables, items }: Section): Html {
  return html`<section aria-labelledby="${idOf("section", heading)}">
<h2 id="${idOf("section", heading)}">${heading}</h2>
${caption !== "" && captionHtml(caption)}
${tables.filter(({ groups }) => groups.length > 0).map((table) => tableHtml(table, heading))}
${items.length > 0 && notesHtml(items)}
</section>
`;
}

const notesShown = 3;

/** More than a few notes are one click away. */
function notesHtml(items: Section["items"]): Html {
  const list = html`<ul class="notes">${items.map(({ head, text }) => html`<li><b>${head}</b>: ${text}</li>`)}</ul>`;
  return items.length <= notesShown ? list : folded(`${items.length} notes`, list);
}

/** A part that is one click away. */
export function folded(name: string, part: Html): Html {
  return part.markup === ""
    ? part
    : html`<details class="folded"><summary>${name}</summary>\n${part}</details>\n`;
}

/** The first sentence, which fits a line; the others open below it. */
export function captionHtml(text: string): Html {
  const [first, ...rest] = text.split(/(?<=\.) (?=[A-Z*“‘(])/);
  if (rest.length === 0) return html`<p class="caption">${withMarks(text)}</p>`;
  return html`<details class="caption"><summary>${withMarks(first!)}</summary> ${withMarks(rest.join(" "))}</details>`;
}

/** A command in backticks, and crossed-out words in tildes, as in Markdown. */
function withMarks(text: string): Html[] {
  return text.split(/(`[^`]+`|~[^~]+~)/).map((part, at) => {
    if (at % 2 === 0) return html`${part}`;
    const inside = part.slice(1, -1);
    return part.startsWith("~") ? html`<s>${inside}</s>` : html`<code>${inside}</code>`;
  });
}

/** `heading` names a table without a title. */
function tableHtml({ title, columns, groups }: Table, heading: string): Html {
  const name = title === "" ? heading : title;
  return html`<div class="scroll" role="group" tabindex="0" aria-label="${name}"><table>
<caption${title === "" && html` class="unseen"`}>${name}</caption>
<thead><tr>${columns.map(({ head, rigid }) => html`<th scope="col"${rigid && html` class="number"`}>${head}</th>`)}</tr></thead>
${groups.map(
  (group) => html`<tbody>${
    group.title !== "" &&
    html`<tr class="group"><th scope="rowgroup" colspan="${columns.length}">${group.title}</th></tr>`
  }
${group.rows.map((row) => html`<tr>${row.map((cell, at) => cellHtml(cell, columns[at]!, at === 0))}</tr>`)}</tbody>`,
)}
</table></div>
`;
}

function cellHtml(cell: TableCell, { rigid }: Column, first: boolean): Html {
  const classes = [rigid ? "number" : "", cell.mark ?? ""].filter((name) => name !== "").join(" ");
  const shown = rigid ? cell.lines.map(withMinus) : cell.lines;
  const lines = shown.map((line, at) => html`${at > 0 && html`<br>`}${line}`);
  const text = cell.mark === "crossed-out" ? html`<s>${lines}</s>` : html`${lines}`;
  const inside = cell.about ? html`<a href="#${aboutId(cell.about)}">${text}</a>` : text;
  const named = classes !== "" && html` class="${classes}"`;
  return first ? html`<th scope="row"${named}>${inside}</th>` : html`<td${named}>${inside}</td>`;
}

/** The sign of numbers; hyphens of dates, names and exponents stay. */
function withMinus(text: string): string {
  return text.replaceAll(/(?<![\w.)])-(?=[\d.])/g, "−");
}

/** The element with the details. */
export function aboutId({ task, agent, metric, seed }: About): string {
  return seed === undefined ? idOf("cell", task, metric ?? "", agent) : attemptId(task, agent, seed);
}

export function attemptId(task: string, agent: string, seed: string | number): string {
  return idOf("attempt", task, agent, typeof seed === "number" ? seed : JSON.stringify(seed));
}

export function instanceId(stage: string): string {
  return idOf("stage", stage);
}
