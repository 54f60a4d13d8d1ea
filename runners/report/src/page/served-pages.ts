// The pages that a server gives next to the report's: a piece of a whole trajectory, and an attempt's files. They have no
// script; all text of agents is escaped.
import { counted } from "@mlrb/core/text/counted";
import { bytesText } from "../story/bytes-text.ts";
import { type Html, html, trusted } from "./html.ts";
import type { PageEvent } from "./page-data.ts";
import { pageStyle } from "./page-style.ts";
import { eventHtml } from "./trajectory-part.ts";

/** Where else a reader can go; `to` is relative to the page. */
export type PageLink = { words: string; to: string };

export type TrajectoryPiece = {
  /** Of the attempt, e.g. its stage instance. */
  name: string;
  events: PageEvent[];
  /** Index of the first line in the trajectory, from 0. */
  from: number;
  /** Lines of the trajectory that could be read. */
  lines: number;
  /** A searched text; empty for all events. */
  find: string;
  /** Where the next piece begins; null at the end. */
  next: number | null;
  /** Events without the searched text of which a part is missing or too long to be searched. */
  unsearched: number;
  /** Why the rest cannot be read; null if it could be. */
  broken: string | null;
};

export function trajectoryPage(
  { name, events, from, lines, find, next, unsearched, broken }: TrajectoryPiece,
  links: PageLink[],
): string {
  const contain = events.length === 1 ? "contains" : "contain";
  const searched = find === "" ? "" : ` that ${contain} “${find}”`;
  const more = new URLSearchParams({ from: String(next), ...(find !== "" && { find }) });
  return whole(
    { name, links },
    html`<form method="get" class="search"><label>Search the whole trajectory <input name="find" type="search" value="${find}" autocomplete="off" spellcheck="false"></label> <button>Search</button></form>
<p class="caption" role="status">${counted(events.length, "event")}${searched}, from line ${from + 1} of ${lines}.</p>
${unsearched > 0 && html`<p class="bad">Of ${unsearched} other events, a part of a text is missing or too long, and was not searched.</p>`}
<div class="trajectory"><ol>${events.map(eventHtml)}</ol></div>
${broken !== null && html`<p class="bad">The rest cannot be read: ${broken}</p>`}
<p>${from > 0 && html`<a href="?${new URLSearchParams(find === "" ? {} : { find }).toString()}">From the beginning</a> `}${next !== null && html`<a href="?${more.toString()}">More</a>`}</p>`,
  );
}

export type ListedFile = { name: string; kind: "file" | "folder" | "other"; bytes: number };

type Head = { name: string; links: PageLink[] };

/** `more`: how many files are not listed. */
export function folderPage(head: Head, { files, more }: { files: ListedFile[]; more: number }): string {
  const line = ({ name: file, kind, bytes }: ListedFile) => {
    const to = `${encodeURIComponent(file)}${kind === "folder" ? "/" : ""}`;
    return html`<li>${kind === "other" ? html`${file} (neither a file nor a folder)` : html`<a href="./${to}">${file}${kind === "folder" && "/"}</a>${kind === "file" && html` <span class="faint">${bytesText(bytes)}</span>`}`}</li>`;
  };
  return whole(
    head,
    files.length === 0
      ? html`<p>It is empty.</p>`
      : html`<ul>${files.map(line)}</ul>${more > 0 && html`<p class="bad">${more} more files are not listed.</p>`}`,
  );
}

/** `text` null: not text. */
export function filePage(
  head: Head,
  { text, bytes, cut }: { text: string | null; bytes: number; cut: boolean },
): string {
  return whole(
    head,
    text === null
      ? html`<p>${bytes} bytes that are not text.</p>`
      : html`${cut && html`<p class="caption">The beginning of ${bytes} bytes.</p>`}<pre>${text}</pre>`,
  );
}

function whole({ name, links }: Head, inside: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<style>${trusted(pageStyle)}</style>
</head>
<body><header><p>${links.map(({ words, to }, at) => html`${at > 0 && " / "}<a href="${to}">${words}</a>`)}</p>
<div class="title"><h1>${name}</h1></div></header>
<main>${inside}</main></body>
</html>
`.markup;
}
