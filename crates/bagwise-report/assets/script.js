(function () {
  "use strict";
  // Tables: a click on a heading, or Enter on it, sorts; numbers by the value their cell carries.
  function value(row, column) {
    var cell = row.cells[column];
    var given = cell.getAttribute("data-v");
    var text = given === null ? cell.textContent.trim() : given;
    return text !== "" && !isNaN(text) ? Number(text) : text;
  }
  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    // What has no value comes last in the order it is in.
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a.localeCompare(b, undefined, { numeric: true });
  }
  document.querySelectorAll("table.sort").forEach(function (table) {
    var heads = Array.from(table.tHead.rows[0].cells);
    function sort(column) {
      var head = heads[column];
      var numeric = head.classList.contains("n");
      var now = head.getAttribute("aria-sort");
      // Numbers fall first, words rise first.
      var down = now === "none" ? numeric : now === "ascending";
      var body = table.tBodies[0];
      var rows = Array.from(body.rows).map(function (row, i) { return [value(row, column), i, row]; });
      rows.sort(function (a, b) {
        var empty = (a[0] === "") - (b[0] === "");
        return empty || (down ? -1 : 1) * compare(a[0], b[0]) || a[1] - b[1];
      });
      rows.forEach(function (row) { body.appendChild(row[2]); });
      heads.forEach(function (h) { h.setAttribute("aria-sort", "none"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    }
    heads.forEach(function (head, column) {
      head.setAttribute("aria-sort", "none");
      head.tabIndex = 0;
      head.addEventListener("click", function () { sort(column); });
      head.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(column); }
      });
    });
  });
  // Lists of bags: only lines that hold what is typed.
  document.querySelectorAll("[data-filter]").forEach(function (box) {
    var rows = Array.from(box.querySelectorAll("tbody tr"));
    if (rows.length < 6) return;
    var input = document.createElement("input");
    input.type = "search";
    input.className = "filter";
    input.placeholder = "Filter " + box.getAttribute("data-filter");
    input.setAttribute("aria-label", input.placeholder);
    var none = document.createElement("p");
    none.className = "muted";
    none.setAttribute("role", "status");
    none.hidden = true;
    none.textContent = "No " + box.getAttribute("data-filter") + " match.";
    input.addEventListener("input", function () {
      var wanted = input.value.toLowerCase();
      var left = 0;
      rows.forEach(function (row) {
        row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
        if (!row.hidden) left += 1;
      });
      none.hidden = left > 0;
    });
    box.parentNode.insertBefore(input, box);
    box.parentNode.insertBefore(none, box.nextSibling);
  });
  // A method under the pointer stands out in the figures.
  document.querySelectorAll("[data-m]").forEach(function (name) {
    var colour = name.getAttribute("data-m");
    if (colour === "mx") return;
    function light(on) {
      document.querySelectorAll("figure svg").forEach(function (svg) {
        svg.classList.toggle("dim", on);
        svg.querySelectorAll("." + colour).forEach(function (mark) { mark.classList.toggle("lit", on); });
      });
    }
    name.addEventListener("mouseenter", function () { light(true); });
    name.addEventListener("mouseleave", function () { light(false); });
  });
  // A link to a data set that is folded away unfolds it, and paper shows them all.
  function unfold() {
    var part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (part) { var folded = part.closest("details"); if (folded) folded.open = true; }
  }
  addEventListener("hashchange", unfold);
  unfold();
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details.set").forEach(function (part) {
      if (!part.open) { part.open = true; part.setAttribute("data-printed", ""); }
    });
  });
  addEventListener("afterprint", function () {
    document.querySelectorAll("details[data-printed]").forEach(function (part) { part.open = false; part.removeAttribute("data-printed"); });
  });
})();
