"use strict";

// The long table: sorted and filtered. Not every page has it.
const table = document.getElementById("all");
if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const form = document.querySelector(".controls");
  const filters = [...form.querySelectorAll("select")];
  const far = document.getElementById("far");

  // A header's button sorts by its column: upwards, downwards, then the order of the file again.
  const heads = [...table.querySelectorAll("th[aria-sort]")];
  const next = { none: "ascending", ascending: "descending", descending: "none" };
  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();

  function sort(head, direction) {
    for (const other of heads) other.setAttribute("aria-sort", other === head ? direction : "none");
    const sign = direction === "descending" ? -1 : 1;
    const column = Number(head?.dataset.column);
    const compare = (a, b) => {
      const [x, y] = [key(a, column), key(b, column)];
      if (x === "" || y === "") return (x === "") - (y === ""); // what is not there comes last
      return sign * (isNaN(x) || isNaN(y) ? x.localeCompare(y, "en") : x - y);
    };
    body.append(...(direction === "none" ? rows : [...rows].sort(compare)));
  }
  for (const head of heads) {
    head.querySelector("button").addEventListener("click", () => sort(head, next[head.ariaSort]));
  }

  function filter() {
    let shown = 0;
    for (const row of rows) {
      row.hidden = filters.some((f) => f.value && row.dataset[f.name] !== f.value)
        || (far.checked && !("far" in row.dataset));
      shown += !row.hidden;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
  }
  form.addEventListener("change", filter);
  form.addEventListener("reset", () => setTimeout(() => { filter(); sort(null, "none"); }));
  filter(); // a browser may remember what was chosen before a reload

  // #cells-adult-race leaves a setting's rows, #cells-gdp a method's.
  function narrow([first, setting]) {
    form.reset();
    for (const f of filters) {
      const asked = setting ? { dataset: first, setting } : { method: first };
      f.value = asked[f.name] ?? "";
    }
    setTimeout(() => { filter(); document.getElementById("results").scrollIntoView(); });
  }

  // A point of a figure leads to its row, whatever is filtered, and says its figures below.
  function arrive() {
    if (location.hash.startsWith("#cells-")) return narrow(location.hash.slice(7).split("-"));
    const row = rows.find((r) => `#${r.id}` === decodeURIComponent(location.hash));
    if (!row) return;
    if (row.hidden) { form.reset(); for (const r of rows) r.hidden = false; }
    row.scrollIntoView({ block: "center", inline: "start" });
  }
  addEventListener("hashchange", arrive);
  arrive();
}

// A link to a cell that is folded away unfolds it first.
function unfold() {
  const cell = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = cell?.closest("details:not([open])");
  if (!folded) return;
  folded.open = true;
  cell.scrollIntoView({ block: "center", inline: "center" });
}
addEventListener("hashchange", unfold);
unfold();

// On paper nothing is folded away.
const onPaper = matchMedia("print");
onPaper.addEventListener("change", () => {
  for (const fold of document.querySelectorAll("details")) {
    if (onPaper.matches) {
      fold.dataset.was = fold.open;
      fold.open = true;
    } else {
      fold.open = fold.dataset.was === "true";
    }
  }
});

// The search: every word of what is typed has to be in an entry.
const search = document.querySelector(".search");
if (search) {
  const entries = JSON.parse(document.getElementById("search-data").textContent)
    .map(([text, target]) => ({ text, target, plain: text.toLowerCase() }));
  const [input, output, list] = ["input", "output", "ul"].map((of) => search.querySelector(of));
  const MOST = 12;

  function find() {
    const words = input.value.toLowerCase().split(/[\s,&:×]+/).filter(Boolean);
    const found = words.length ? entries.filter(({ plain }) => words.every((word) => plain.includes(word))) : [];
    list.replaceChildren(...found.slice(0, MOST).map(({ text, target }) => {
      const item = document.createElement("li");
      item.append(Object.assign(document.createElement("a"), { href: target, textContent: text }));
      return item;
    }));
    list.hidden = !found.length;
    output.textContent = words.length ? `${found.length || "nothing"} found` : "";
  }
  function close() { list.hidden = true; output.textContent = ""; }
  search.addEventListener("input", find);
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  search.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
  search.addEventListener("focusout", (event) => { if (!search.contains(event.relatedTarget)) close(); });
  search.addEventListener("keydown", (event) => {
    const stops = [input, ...list.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") { input.value = ""; input.focus(); close(); }
    if (!step || list.hidden) return;
    event.preventDefault();
    stops[stops.indexOf(document.activeElement) + step]?.focus();
  });
}

for (const figure of document.querySelectorAll("figure:has(.readout)")) {
  const readout = figure.querySelector(".readout");
  const hint = readout.textContent;
  for (const link of figure.querySelectorAll("a")) {
    const say = () => { readout.textContent = link.querySelector("title").textContent; };
    const clear = () => { readout.textContent = hint; };
    link.addEventListener("pointerenter", say);
    link.addEventListener("focus", say);
    link.addEventListener("pointerleave", clear);
    link.addEventListener("blur", clear);
  }
}
