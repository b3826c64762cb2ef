// The box that a mark of a chart is about, or the innermost one around it;
// `known` says which ids there are. null: none.
export function boxAbout(mark, known) {
  let id = mark && mark.dataset.box || "";
  while (id && !known(id)) id = id.replace(/\.?[^.]*$/, "");
  return id || null;
}

// The view of a diagram, for the page of `-o x.html`, the playground and VS
// Code: it is zoomed by buttons, keys, the wheel with Ctrl or two fingers, and
// moved by its scroll bars or by dragging. `near` hears of the box under the
// pointer or of null, `go` of the one that is chosen. Until somebody zooms it is
// as wide as there is room, but not below `least` of its size.
export function makeView(canvas, buttons, { near, go, least = 0 }) {
  let svg = null, natural = 0, zoom = 0, moved = false;

  const scale = () => zoom || svg.getBoundingClientRect().width / natural;
  // The place (x, y) of the canvas stays; `to` 0: as wide as there is room.
  const resize = (to, x = canvas.clientWidth / 2,
    y = canvas.clientHeight / 2) => {
    if (!svg) return;
    const old = scale();
    zoom = to && Math.min(8, Math.max(0.05, to));
    svg.style.width = zoom ? `${natural * zoom}px` : `max(${natural * least
    }px,min(100%,${natural}px))`;
    const by = scale() / old;
    canvas.scrollLeft = (canvas.scrollLeft + x) * by - x;
    canvas.scrollTop = (canvas.scrollTop + y) * by - y;
  };
  const zoomBy = (factor, x, y) => resize(factor && scale() * factor, x, y);
  const within = (x, y) => {
    const c = canvas.getBoundingClientRect();
    return [x - c.left, y - c.top];
  };

  for (const b of buttons.querySelectorAll("[data-zoom]"))
    b.addEventListener("click", () => {
      least = 0;
      zoomBy(Number(b.dataset.zoom));
    });
  canvas.addEventListener("keydown", (e) => {
    const factor = { "+": 1.25, "=": 1.25, "-": 0.8, "0": 0 }[e.key];
    if (factor === undefined || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    zoomBy(factor);
  });
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    zoomBy(Math.exp(-e.deltaY / 300), ...within(e.clientX, e.clientY));
  }, { passive: false });

  let grip = null; // what of the picture the mouse holds
  canvas.addEventListener("pointerdown", (e) => {
    moved = false;
    if (e.pointerType === "mouse" && e.button === 0)
      grip = { x: e.clientX + canvas.scrollLeft,
        y: e.clientY + canvas.scrollTop };
  });
  addEventListener("pointermove", (e) => {
    if (!grip) return;
    const x = grip.x - e.clientX, y = grip.y - e.clientY;
    if (!moved && Math.hypot(x - canvas.scrollLeft, y - canvas.scrollTop) < 4)
      return;
    moved = true;
    canvas.classList.add("moving");
    canvas.scrollTo(x, y);
  });
  addEventListener("pointerup", () => {
    grip = null;
    canvas.classList.remove("moving");
  });

  let apart = 0; // two fingers, at the last move
  canvas.addEventListener("touchmove", (e) => {
    if (e.touches.length !== 2) return;
    e.preventDefault();
    const [a, b] = e.touches, was = apart;
    apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (was && apart) zoomBy(apart / was, ...within(
      (a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2));
  }, { passive: false });
  canvas.addEventListener("touchstart", () => (apart = 0), { passive: true });
  canvas.addEventListener("dragstart", (e) => e.preventDefault());

  const boxAt = (e) => {
    const box = e.target.closest && e.target.closest('[id^="n."]');
    return box && canvas.contains(box) ? box : null;
  };
  canvas.addEventListener("click", (e) => {
    const box = boxAt(e);
    if (!box) return;
    e.preventDefault();
    if (!moved) go(box);
  });
  canvas.addEventListener("mouseover", (e) => near(boxAt(e)));
  canvas.addEventListener("mouseleave", () => near(null));

  return {
    // A picture takes the place of the one that is shown; null: none.
    show(picture) {
      svg = picture;
      if (!svg) return;
      natural = svg.viewBox.baseVal.width * 4 / 3;
      if (svg.parentNode !== canvas) canvas.replaceChildren(svg);
      resize(zoom);
    },
    fresh() { // another net
      zoom = 0;
    },
    box: (id) => svg && svg.getElementById(id),
    // Moves a box to the middle if it is not in sight.
    reveal(box) {
      const r = box.getBoundingClientRect(), c = canvas.getBoundingClientRect();
      if (r.left < c.left || r.right > c.right)
        canvas.scrollLeft += (r.left + r.right - c.left - c.right) / 2;
      if (r.top < c.top || r.bottom > c.bottom)
        canvas.scrollTop += (r.top + r.bottom - c.top - c.bottom) / 2;
    },
  };
}
