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

  // A point of a figure leads to its row, whatever is filtered, and says its figures below.
  function arrive() {
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

for (const figure of document.querySelectorAll("figure")) {
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
