// The page's script: a link into a closed element opens it, all elements can be opened or closed for print and search,
// and the list of instances can be filtered. The page is complete without the script.

export const pageScript = `
"use strict";
const all = () => document.querySelectorAll("main details");
function openTo(id) {
  const target = id && document.getElementById(id);
  if (!target) return;
  for (let at = target; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
    if (at.hidden) at.hidden = false;
  }
  target.scrollIntoView();
  const summary = target.querySelector(":scope > summary");
  if (summary) summary.focus({ preventScroll: true });
}
const fromHash = () => openTo(decodeURIComponent(location.hash.slice(1)));
addEventListener("hashchange", fromHash);
addEventListener("DOMContentLoaded", fromHash);
// a second click on the link that led here before changes no hash
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest('a[href^="#"], a[*|href^="#"]');
  const href = link && (link.getAttribute("href") || link.getAttribute("xlink:href"));
  if (href && href === location.hash) openTo(decodeURIComponent(href.slice(1)));
});
document.getElementById("open-all").addEventListener("click", () => all().forEach((each) => (each.open = true)));
document.getElementById("close-all").addEventListener("click", () => all().forEach((each) => (each.open = false)));
const filter = document.getElementById("filter");
if (filter) filter.addEventListener("input", () => {
  const wanted = filter.value.trim().toLowerCase();
  let shown = 0, count = 0;
  for (const each of document.querySelectorAll(".instance")) {
    const name = each.querySelector("code").textContent.toLowerCase();
    each.hidden = !name.includes(wanted);
    count++;
    if (!each.hidden) shown++;
  }
  document.getElementById("filtered").textContent = wanted ? shown + " of " + count : "";
});
`;
