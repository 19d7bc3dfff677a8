"use strict";
// Links to the sections, before the first one.
const sections = Array.from(document.querySelectorAll("h2"));
const links = sections.map((heading, number) => {
  heading.id = heading.id || `section-${number + 1}`;
  const link = document.createElement("a");
  link.href = `#${heading.id}`;
  link.textContent = heading.textContent;
  return link;
});
const nav = document.createElement("nav");
nav.ariaLabel = "Sections";
nav.append(...links);
sections[0].before(nav);
// A click on a column's name sorts by it, a second one in reverse.
for (const heading of document.querySelectorAll(".sortable th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = heading.textContent;
  heading.replaceChildren(button);
  button.addEventListener("click", () => {
    const column = heading.cellIndex;
    const ascending = heading.ariaSort !== "ascending";
    for (const other of heading.parentElement.children) other.ariaSort = null;
    heading.ariaSort = ascending ? "ascending" : "descending";
    const text = (row) => row.cells[column].textContent.trim();
    // "99.92–100%", ">=4948" and "1,234" by their first number.
    const number = (row) => Number.parseFloat(text(row).replace(/^[>=~<]+|,/g, ""));
    const difference = (one, other) => heading.classList.contains("number")
        ? number(one) - number(other) : text(one).localeCompare(text(other));
    const isKnown = (row) => text(row) !== "-";
    const body = heading.closest("table").tBodies[0];
    body.append(...Array.from(body.rows).sort((one, other) => {
      if (isKnown(one) !== isKnown(other)) return isKnown(one) ? -1 : 1;  // unknown ones come last
      return (ascending ? 1 : -1) * (isKnown(one) ? difference(one, other) : 0);
    }));
  });
}
// Closed sections cannot be opened on paper.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
