// The page's script: tabs, links that open what they lead to, a table that is sorted and filtered, and search in
// stories. Without it the page is complete: all tabs follow each other. It reads text only and writes no markup.

const tabsScript = `
"use strict";
const root = document.documentElement;
root.classList.add("js");
const find = (selector, at = document) => [...at.querySelectorAll(selector)];
// another id than its link's, so that the browser does not scroll to a chosen tab
const panelId = (id) => id.replace(/^tab-/, "panel-");
function showTab(panel) {
  for (const each of find(".panel")) each.classList.toggle("shown", each === panel);
  for (const tab of find("#tabs a")) {
    const chosen = tab.id === panel.getAttribute("aria-labelledby");
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    // on a phone, the list of tabs is wider than the screen
    const list = tab.parentElement;
    if (chosen) list.scrollLeft = tab.offsetLeft - list.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2;
  }
}
function setUpTabs() {
  const list = document.getElementById("tabs");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Sections");
  const tabs = find("a", list);
  for (const tab of tabs) {
    tab.setAttribute("role", "tab");
    const panel = document.querySelector(tab.hash);
    panel.id = panelId(tab.hash.slice(1));
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
  }
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab.focus();
    tab.click();
  });
  showTab(document.querySelector(".panel.shown"));
}
function openTo(id) {
  const target = id && document.getElementById(panelId(id));
  if (!target) return;
  const panel = target.closest(".panel");
  if (panel) showTab(panel);
  if (target === panel) {
    const end = document.querySelector("header").getBoundingClientRect().bottom + scrollY;
    if (scrollY > end) scrollTo(0, end);
    return;
  }
  // one attempt at a time, unless everything is open
  if (target.matches("details.attempt") && !root.classList.contains("all"))
    for (const other of find("details.attempt[open]")) other.open = false;
  for (let at = target; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
    if (at.hidden) at.hidden = false;
  }
  target.scrollIntoView();
  const summary = target.querySelector(":scope > summary");
  if (summary) summary.focus({ preventScroll: true });
}
// without a hash, the page is as it was at first
const fromHash = () => openTo(decodeURIComponent(location.hash.slice(1)) || panelId(document.querySelector("#tabs a").hash.slice(1)));
// Back returns to where the reader was: a hidden panel loses its scroll position
history.scrollRestoration = "manual";
let kept;
addEventListener("scroll", () => {
  const { hash } = location;
  clearTimeout(kept);
  kept = setTimeout(() => {
    if (location.hash === hash) history.replaceState({ y: scrollY }, "");
  }, 150);
});
function fromEntry() {
  fromHash();
  if (history.state) scrollTo(0, history.state.y);
}
function openAll(open) {
  root.classList.toggle("all", open);
  for (const each of find("main details")) each.open = open;
}
`;

const tableScript = `
// shows the items that contain what is typed in the field, and gives their number
function showMatching(field, items, { may = () => true, textOf = (item) => item.textContent } = {}) {
  const wanted = field.value.trim().toLowerCase();
  for (const each of items) each.hidden = !may(each) || !textOf(each).toLowerCase().includes(wanted);
  return items.filter((each) => !each.hidden).length;
}
function setUpAttempts() {
  const filter = document.getElementById("attempt-filter");
  if (!filter) return;
  const verdict = document.getElementById("verdict-filter");
  const body = document.querySelector("table.sortable tbody");
  const rows = find("tr", body);
  const show = () => {
    const shown = showMatching(filter, rows, { may: (row) => verdict.value === "" || row.dataset.verdict === verdict.value });
    document.getElementById("attempts-shown").textContent = (shown === rows.length ? "" : shown + " of ") + rows.length + (rows.length === 1 ? " attempt" : " attempts");
  };
  filter.addEventListener("input", show);
  verdict.addEventListener("change", show);
  const heads = find("table.sortable thead th");
  heads.forEach((head, at) => head.firstElementChild.addEventListener("click", () => {
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const each of heads) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const keyed = rows.map((row) => {
      const { sort } = row.cells[at].dataset;
      const text = row.cells[at].textContent.toLowerCase();
      return { row, text, known: sort !== "", number: sort === undefined ? Number.NaN : Number(sort) };
    });
    keyed.sort((a, b) => {
      if (a.known !== b.known) return a.known ? -1 : 1;
      const numbers = a.number - b.number;
      return sign * (Number.isNaN(numbers) ? (a.text < b.text ? -1 : a.text > b.text ? 1 : 0) : numbers);
    });
    body.append(...keyed.map(({ row }) => row));
  }));
}
`;

const searchScript = `
function setUpSearch() {
  const filter = document.getElementById("filter");
  if (filter) filter.addEventListener("input", () => {
    const wanted = filter.value.trim();
    const instances = find(".instance");
    const shown = showMatching(filter, instances, { textOf: (one) => one.querySelector("code").textContent });
    for (const stage of find("details.stage")) stage.open = wanted !== "" && stage.querySelector(".instance:not([hidden])") !== null;
    document.getElementById("filtered").textContent = wanted ? shown + " of " + instances.length : "";
  });
  document.addEventListener("input", (event) => {
    if (!event.target.matches(".find")) return;
    const events = find("ol > li", event.target.closest("details"));
    const shown = showMatching(event.target, events);
    event.target.closest(".search").querySelector(".found").textContent = event.target.value.trim() ? shown + " of " + events.length + " lines" : "";
  });
}
addEventListener("hashchange", fromEntry);
addEventListener("DOMContentLoaded", () => {
  setUpTabs();
  setUpAttempts();
  setUpSearch();
  document.getElementById("open-all").addEventListener("click", () => openAll(true));
  document.getElementById("close-all").addEventListener("click", () => openAll(false));
  fromEntry();
});
// a second click on the link that led here before changes no hash
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest('a[href^="#"], a[*|href^="#"]');
  const href = link && (link.getAttribute("href") || link.getAttribute("xlink:href"));
  if (href && href === location.hash) openTo(decodeURIComponent(href.slice(1)));
});
`;

export const pageScript = tabsScript + tableScript + searchScript;
