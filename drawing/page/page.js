// The script of `-o x.html`: opens, sorts, finds, shows. The page is whole
// without it. It builds text nodes only, so that no name becomes markup.
(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const make = (tag, text) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const table = $("table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const note = $("found");
  for (const e of document.querySelectorAll(".bar,#find")) e.hidden = false;

  // The tree of rows

  const info = new Map();
  const stack = [];
  rows.forEach((tr, index) => {
    const level = +tr.getAttribute("aria-level");
    stack.length = level - 1;
    const up = stack[level - 2] || null;
    const node = { tr, index, level, up, inner: [], text: null };
    stack[level - 1] = node;
    if (up) up.inner.push(node);
    info.set(tr, node);
    tr.tabIndex = -1;
  });
  const nodes = [...info.values()];
  const isOpen = (n) => n.tr.getAttribute("aria-expanded") !== "false";
  const setOpen = (n, open) => {
    if (n.inner.length) n.tr.setAttribute("aria-expanded", String(open));
  };
  const tops = nodes.filter((n) => !n.up);
  const more = $("more");
  const most = 400; // rows, until somebody wants to see all
  let every = false;
  let finding = false;

  function show() {
    let left = every ? Infinity : most;
    let cut = 0;
    const visit = (list, seen) => {
      for (const n of list) {
        const shown = finding ? n.found : seen;
        if (shown && left <= 0) cut++;
        n.tr.hidden = !shown || left <= 0;
        left -= shown;
        visit(n.inner, seen && isOpen(n));
      }
    };
    visit(tops, true);
    more.hidden = cut === 0;
    more.textContent = "Show " + cut + " more rows";
    const here = body.querySelector('tr[tabindex="0"]');
    if (!here || here.hidden) rove(nodes.find((n) => !n.tr.hidden));
  }

  more.onclick = () => {
    every = true;
    show();
  };

  function reveal(n) {
    for (let up = n.up; up; up = up.up) setOpen(up, true);
    if (finding && !n.found) {
      $("query").value = "";
      find();
    }
    show();
    every = every || n.tr.hidden;
    show();
  }

  // A screenful at first: inner rows are closed until it is.
  function first() {
    const screenful = 60;
    let deepest = 1;
    const count = [];
    for (const n of nodes) {
      count[n.level] = (count[n.level] || 0) + 1;
      deepest = Math.max(deepest, n.level);
    }
    let sum = nodes.length;
    for (; deepest > 1 && sum > screenful; deepest--) sum -= count[deepest];
    for (const n of nodes) setOpen(n, n.level < deepest);
    show();
  }
  const all = (open) => {
    for (const n of nodes) setOpen(n, open);
    show();
  };
  $("open").onclick = () => all(true);
  $("shut").onclick = () => all(false);

  // Sorting: the rows of a group among each other

  const heads = [...table.tHead.rows[0].cells];
  const collator = new Intl.Collator("en", { numeric: true });
  const keyOf = (n, column) => {
    const cell = n.tr.cells[column];
    if (!heads[column].classList.contains("n")) return cell.textContent;
    const text = cell.dataset.v || cell.textContent.replace(/,/g, "");
    if (text === "-" || text === "") return 0;
    return /^[\d.]+$/.test(text) ? +text : size(text);
  };
  // 56x56x64 by the number of its values; "shared" and the like are none.
  const size = (text) => {
    const parts = text.split(/[x\u00d7]/).map(Number);
    return parts.some(isNaN) ? 0 : parts.reduce((a, b) => a * b, 1);
  };
  function sort(column) {
    const head = heads[column];
    const was = head.getAttribute("aria-sort");
    const ways = head.classList.contains("n")
      ? ["descending", "ascending"] : ["ascending", "descending"];
    const way = ways[ways.indexOf(was) + 1] || "none";
    for (const h of heads) h.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", way);
    const sign = way === "descending" ? -1 : 1;
    const order = (list) => {
      const keyed = list.map((n) => [n, way === "none" ? n.index
        : keyOf(n, column)]);
      keyed.sort(([a, x], [b, y]) => (way === "none" ? x - y
        : (typeof x === "number" ? x - y : collator.compare(x, y)) * sign) ||
        a.index - b.index);
      return keyed.map(([n]) => n);
    };
    const sorted = [];
    const put = (list) => {
      list.splice(0, list.length, ...order(list));
      for (const n of list) {
        sorted.push(n.tr);
        put(n.inner);
      }
    };
    put(tops);
    body.replaceChildren(...sorted);
    show();
    note.textContent = way === "none" ? "in the order of the source"
      : "sorted by " + head.textContent + ", " + way;
  }
  heads.forEach((th, column) => {
    const button = make("button", th.textContent);
    button.type = "button";
    button.onclick = () => sort(column);
    th.replaceChildren(button);
    th.setAttribute("aria-sort", "none");
  });

  // Columns

  const sheet = document.head.appendChild(make("style"));
  const off = new Set();
  const hide = () => {
    sheet.textContent = [...off].map((i) => "#table tr>:nth-child(" + (i + 1) +
      "){display:none}").join("");
  };
  heads.forEach((th, i) => {
    const label = make("label");
    const box = make("input");
    box.type = "checkbox";
    box.checked = !th.hasAttribute("data-off");
    if (!box.checked) off.add(i);
    box.onchange = () => {
      off[box.checked ? "delete" : "add"](i);
      hide();
    };
    label.append(box, " ", th.textContent, ": ", th.title);
    $("columns").lastElementChild.append(label);
  });
  hide();

  // One row: its formulas, its line, its box

  const detail = $("detail");
  const canvas = $("canvas");
  const boxId = (name) => "n." + [...new TextEncoder().encode(name)].map((c) =>
    /[A-Za-z0-9.]/.test(String.fromCharCode(c)) ? String.fromCharCode(c)
      : "_" + c.toString(16).padStart(2, "0")).join("");
  const boxOf = (n) => {
    for (; n; n = n.up) {
      const box = $(boxId(n.tr.dataset.n));
      if (box) return box;
    }
    return null;
  };
  const clear = (name) => {
    for (const e of document.querySelectorAll("." + name))
      e.classList.remove(name);
  };
  function rove(n) {
    if (!n) return;
    const last = body.querySelector('tr[tabindex="0"]');
    if (last) last.tabIndex = -1;
    n.tr.tabIndex = 0;
  }
  function close() {
    const row = body.querySelector('[aria-selected="true"]');
    if (row) row.removeAttribute("aria-selected");
    clear("here");
    detail.hidden = true;
    return row;
  }
  function choose(n) {
    close();
    rove(n);
    n.tr.setAttribute("aria-selected", "true");
    const button = make("button", "Close");
    button.type = "button";
    button.onclick = () => {
      const row = close();
      if (row) row.focus();
    };
    const cells = [...n.tr.cells].map((c, i) => [heads[i].textContent,
      c.textContent]).filter(([h, t], i) => i && t && t !== "-" && h !== "#");
    const list = make("dl");
    for (const [head, text] of cells) {
      const pair = make("div");
      pair.append(make("dt", head), make("dd", text));
      list.append(pair);
    }
    detail.replaceChildren(button, make("h2", n.tr.dataset.n), list);
    if (n.tr.dataset.f) detail.append(make("pre", n.tr.dataset.f.trim()));
    const line = $(n.tr.dataset.l);
    if (line) {
      const link = make("a", "line " + n.tr.dataset.l.replace(/.*L/, ""));
      link.href = "#" + line.id;
      const code = make("code", line.textContent.trim());
      const p = make("div");
      p.append(link, ": ", code);
      detail.append(p);
      line.classList.add("here");
    }
    const box = boxOf(n);
    if (box) {
      const link = make("a", "box in the diagram");
      link.href = "#" + box.id;
      link.onclick = (event) => {
        event.preventDefault();
        $("diagram").scrollIntoView();
        bring(box);
      };
      detail.append(link);
      box.classList.add("here");
      bring(box);
    }
    detail.hidden = false;
  }
  body.addEventListener("click", (event) => {
    const n = info.get(event.target.closest("tr"));
    if (!n) return;
    const th = n.tr.cells[0];
    if (n.inner.length && !finding && event.target.closest("th") === th) {
      setOpen(n, !isOpen(n));
      show();
      rove(n);
      n.tr.focus({ preventScroll: true });
    } else {
      choose(n);
      n.tr.focus({ preventScroll: true });
    }
  });
  body.addEventListener("keydown", (event) => {
    const n = info.get(event.target);
    if (!n || event.altKey || event.ctrlKey || event.metaKey) return;
    const seen = [...body.rows].filter((tr) => !tr.hidden);
    const at = seen.indexOf(n.tr);
    let to = null;
    switch (event.key) {
      case "ArrowDown": to = seen[at + 1]; break;
      case "ArrowUp": to = seen[at - 1]; break;
      case "Home": to = seen[0]; break;
      case "End": to = seen[seen.length - 1]; break;
      case "ArrowRight":
        if (n.inner.length && !isOpen(n)) setOpen(n, true), show();
        else if (n.inner.length) to = seen[at + 1];
        break;
      case "ArrowLeft":
        if (n.inner.length && isOpen(n)) setOpen(n, false), show();
        else if (n.up) to = n.up.tr;
        break;
      case "Enter": case " ": choose(n); break;
      default: return;
    }
    event.preventDefault();
    if (to) {
      rove(info.get(to));
      to.focus();
      to.scrollIntoView({ block: "nearest" });
      if (!detail.hidden) choose(info.get(to));
    }
  });

  // Diagram: its size, moving it, its boxes

  const picture = canvas.querySelector("svg");
  const view = makeView(canvas, $("diagram"), {
    near() {}, go(box) {
      const n = byBox.get(box.id);
      if (!n) return;
      reveal(n);
      choose(n);
    },
    least: 3 / 4 });
  const bring = view.reveal;
  const byBox = new Map();
  for (const n of nodes) {
    const id = boxId(n.tr.dataset.n);
    if (!byBox.has(id)) byBox.set(id, n);
  }
  // Hover: row, box and marks of charts mark each other

  const marks = new Map(); // of charts, by the box that they are about
  for (const mark of document.querySelectorAll(".chart [data-box]")) {
    const id = boxAbout(mark, (known) => byBox.has(known));
    if (id) marks.set(id, [...marks.get(id) || [], mark]);
  }
  let near = [];
  document.addEventListener("pointerover", (event) => {
    const box = event.target.closest('#canvas [id^="n."]');
    const mark = event.target.closest(".chart [data-box]");
    let n = box ? byBox.get(box.id)
      : mark ? byBox.get(boxAbout(mark, (id) => byBox.has(id)))
      : info.get(event.target.closest("#table tbody tr"));
    const own = n && box ? box.id : n ? boxId(n.tr.dataset.n) : "";
    while (n && n.up && n.tr.hidden) n = n.up;
    for (const e of near) e.classList.remove("near");
    near = n ? [n.tr, box || boxOf(n), ...marks.get(own) || []].filter(Boolean)
      : [];
    for (const e of near) e.classList.add("near");
  });

  // Hover: what SVG says in <title>, at once and without its delay

  const tip = $("tip");
  let told = null;
  let title = null;
  function untell() {
    if (!told) return;
    told.prepend(title);
    told.classList.remove("on-it");
    told = title = null;
    tip.hidden = true;
  }
  function tell(e, x, y) {
    if (e !== told) {
      untell();
      title = e.querySelector(":scope>title");
      told = e;
      title.remove();
      told.classList.add("on-it");
      tip.textContent = title.textContent;
      tip.hidden = false;
    }
    const wide = tip.offsetWidth;
    const high = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - wide - 4)) +
      "px";
    tip.style.top = (y + 18 + high > innerHeight ? y - high - 8 : y + 18) +
      "px";
  }
  const titled = (e) => {
    for (; e && e.nodeName !== "svg" && e.closest; e = e.parentNode)
      if (e === told || e.querySelector(":scope>title")) return e;
    return null;
  };
  document.addEventListener("pointermove", (event) => {
    const e = event.target.closest && event.target.closest("svg") &&
      !canvas.classList.contains("moving")
      ? titled(event.target) : null;
    if (e) tell(e, event.clientX, event.clientY);
    else untell();
  });

  // Charts by keyboard: the arrows go from mark to mark

  for (const svg of document.querySelectorAll(".chart svg")) {
    const marks = [...svg.querySelectorAll("title")].map((t) => t.parentNode)
      .filter((e) => e !== svg);
    let at = -1;
    svg.tabIndex = 0;
    svg.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[
        event.key];
      if (event.key === "Escape") untell();
      if (!by || !marks.length) return;
      event.preventDefault();
      at = Math.max(0, Math.min(marks.length - 1, at + by));
      const r = marks[at].getBoundingClientRect();
      tell(marks[at], r.right, r.top);
      note.textContent = tip.textContent;
    });
    svg.addEventListener("blur", untell);
  }

  // Finding

  const boxes = [...canvas.querySelectorAll('[id^="n."]')];
  const query = $("query");
  function find() {
    const words = query.value.toLowerCase().replace(/\u00d7/g, "x")
      .split(/\s+/).filter(Boolean);
    const holds = (text) => words.every((w) => text.includes(w));
    const plain = (text) => text.toLowerCase().replace(/\u00d7/g, "x");
    let count = 0;
    finding = words.length > 0;
    for (const n of nodes) n.found = n.hit = false;
    for (const n of finding ? nodes : []) {
      n.text = n.text || plain(n.tr.dataset.n + " " + n.tr.textContent);
      n.hit = holds(n.text);
      count += n.hit;
      for (let up = n.hit ? n : null; up && !up.found; up = up.up)
        up.found = true;
    }
    for (const n of nodes)
      if (n.hit !== n.tr.classList.contains("hit-row"))
        n.tr.classList.toggle("hit-row", n.hit);
    untell();
    const hits = boxes.filter((b) => {
      const hit = finding && holds(plain(b.textContent));
      b.classList.toggle("hit", hit);
      return hit;
    });
    canvas.classList.toggle("finding", finding);
    if (hits.length) bring(hits[0]);
    const many = (n, word, more) => n + " " + (n === 1 ? word : more);
    note.textContent = finding ? many(count, "row", "rows") + ", " +
      many(hits.length, "box", "boxes") : "";
    show();
  }
  query.addEventListener("input", find);
  document.addEventListener("keydown", (event) => {
    const typing = /INPUT|TEXTAREA/.test(document.activeElement.nodeName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      query.focus();
    } else if (event.key === "Escape" && query.value &&
               document.activeElement === query) {
      query.value = "";
      find();
    } else if (event.key === "Escape" && !detail.hidden) {
      const row = close();
      if (row && !typing) row.focus();
    }
  });

  // On paper nothing is closed
  addEventListener("beforeprint", () => {
    every = true;
    all(true);
  });

  first();
  for (const e of document.querySelectorAll("section"))
    e.classList.add("ready");
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((s) => s.isIntersecting)) return;
    observer.disconnect();
    view.show(picture);
  }, { rootMargin: "400px" }).observe($("diagram"));
})();
