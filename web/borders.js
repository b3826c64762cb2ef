// Borders between the panes: dragged, or moved by the arrow keys.
const LEAST = 0.12, STEP = 0.02; // of the window's width

export const makeBorders = (main, borders) => {
  const shares = [6 / 19, 6 / 19]; // of source and diagram
  const show = () => {
    const [a, b] = shares;
    main.style.gridTemplateColumns = [a, b, 1 - a - b]
      .map((share) => `minmax(0,${share}fr)`).join(" 5px ");
    borders.forEach((border, i) => border.setAttribute("aria-valuenow",
      Math.round(100 * shares[i])));
  };
  const set = (i, share) => {
    const most = 1 - LEAST - shares[1 - i];
    shares[i] = Math.min(most, Math.max(LEAST, share));
    show();
  };
  borders.forEach((border, i) => {
    border.addEventListener("keydown", (e) => {
      const by = { ArrowLeft: -STEP, ArrowRight: STEP }[e.key];
      if (by) set(i, shares[i] + by);
    });
    border.addEventListener("pointerdown", (e) => {
      border.setPointerCapture(e.pointerId);
      e.preventDefault();
    });
    border.addEventListener("pointermove", (e) => {
      if (!border.hasPointerCapture(e.pointerId)) return;
      const all = main.getBoundingClientRect();
      set(i, (e.clientX - all.left) / all.width - (i ? shares[0] : 0));
    });
  });
  show();
};
