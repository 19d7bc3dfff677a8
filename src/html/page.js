"use strict";
// A click on a column's name sorts by it, a second one in reverse.
for (const button of document.querySelectorAll(".sortable th button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement;
    const column = Array.from(heading.parentElement.children).indexOf(heading);
    const table = heading.closest("table");
    const ascending = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const value = (row) => {
      const cell = row.children[column];
      return "sort" in cell.dataset ? Number(cell.dataset.sort) : cell.textContent.trim();
    };
    const order = (left, right) => {
      const a = value(left), b = value(right);
      const bothNumbers = typeof a === "number" && typeof b === "number";
      // Rows without a number come last.
      if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
      const difference = bothNumbers ? a - b : a.localeCompare(b);
      return ascending ? difference : -difference;
    };
    const body = table.tBodies[0];
    body.append(...Array.from(body.rows).sort(order));
  });
}
// The line below a figure shows the value under the pointer, or the one chosen with the arrow keys.
for (const figure of document.querySelectorAll("figure")) {
  const readout = figure.querySelector(".readout");
  const svg = figure.querySelector("svg");
  const marks = Array.from(figure.querySelectorAll("[data-value]"));
  let chosen = -1;
  const choose = (index) => {
    if (chosen >= 0) marks[chosen].classList.remove("chosen");
    chosen = index;
    readout.textContent = chosen < 0 ? "" : marks[chosen].dataset.value;
    if (chosen >= 0) marks[chosen].classList.add("chosen");
  };
  svg.addEventListener("pointerover", (event) => {
    const mark = event.target.closest("[data-value]");
    if (mark !== null) choose(marks.indexOf(mark));
  });
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") choose(-1);
    if (step === undefined || marks.length === 0) return;
    event.preventDefault();
    choose(Math.min(marks.length - 1, Math.max(0, chosen + step)));
  });
}
// Closed sections cannot be opened on paper.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
