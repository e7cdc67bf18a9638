// The explorer's plot: lines, bands and points in SVG. `draw` takes what is to be seen; a point that
// is pressed, by mouse or keyboard, is handed to `press`.
function plot(host, press) {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { left: 52, right: 14, top: 10, bottom: 42 };
  let seen = null;
  let width = 0;

  function make(name, attributes, parent, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent?.append(made);
    return made;
  }

  function ticks(low, high, most) { // round numbers between two
    const raw = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((of) => of * power).find((of) => of >= raw);
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9; i++) found.push(i * step);
    return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  }

  // From the fairest and worst to the others' ends; one bad strength does not squash the rest.
  function ranges(series) {
    const points = series.flatMap((one) => one.points.filter((point) => point.front));
    const xs = points.map((point) => point.x);
    const ys = points.map((point) => point.y).sort((a, b) => a - b);
    const high = ys.at(-1) ?? 1;
    const low = ys[Math.floor(0.05 * ys.length)] ?? 0;
    const pad = 0.12 * Math.max(high - low, 0.01);
    return { x: [0, 1.06 * Math.max(0.01, ...xs)], y: [low - pad, high + pad] };
  }

  function draw(next) {
    seen = next;
    width = Math.max(280, host.clientWidth);
    const height = Math.round(Math.min(460, Math.max(280, 0.62 * width)));
    const range = ranges(seen.series);
    const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    const x = (value) => MARGIN.left + inner.width * (value - range.x[0]) / (range.x[1] - range.x[0]);
    const y = (value) => MARGIN.top + inner.height * (range.y[1] - value) / (range.y[1] - range.y[0]);
    const inside = (point) => point.x <= range.x[1] && point.y >= range.y[0] && point.y <= range.y[1];
    const svg = make("svg", {
      viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": seen.label,
    });
    const clip = make("clipPath", { id: "explorer-clip" }, make("defs", {}, svg));
    const box = { x: MARGIN.left, y: MARGIN.top, width: inner.width, height: inner.height };
    make("rect", box, clip);
    const ground = make("g", { "clip-path": "url(#explorer-clip)" }, svg);
    if (seen.shade !== null) {
      make("rect", { ...box, width: Math.max(0, x(seen.shade) - MARGIN.left), class: "shade" }, ground);
    }
    axes(svg, range, x, y, width, height);
    if (seen.budget !== null && seen.budget <= range.x[1]) {
      make("line", { x1: x(seen.budget), x2: x(seen.budget), y1: MARGIN.top, y2: height - MARGIN.bottom, class: "budget" }, svg);
    }
    for (const one of seen.series) lines(ground, one, x, y);
    const points = make("g", {}, svg);
    for (const one of seen.series) {
      for (const point of one.points.filter(inside)) mark(points, one, point, x, y);
    }
    points.firstElementChild?.setAttribute("tabindex", 0);
    host.replaceChildren(svg);
  }

  function axes(svg, range, x, y, wide, high) {
    const [bottom, right] = [high - MARGIN.bottom, wide - MARGIN.right];
    const below = ticks(...range.x, wide / 90);
    for (const value of below.found) {
      make("line", { x1: x(value), x2: x(value), y1: MARGIN.top, y2: bottom, class: "rule" }, svg);
      make("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, svg, value.toFixed(below.digits));
    }
    const beside = ticks(...range.y, high / 60);
    for (const value of beside.found) {
      make("line", { x1: MARGIN.left, x2: right, y1: y(value), y2: y(value), class: "rule" }, svg);
      make("text", { x: MARGIN.left - 6, y: y(value) + 4, "text-anchor": "end" }, svg, value.toFixed(beside.digits));
    }
    const middle = (MARGIN.left + right) / 2;
    make("text", { x: middle, y: high - 6, "text-anchor": "middle" }, svg, `${seen.x} (lower is better)`);
    const up = (MARGIN.top + bottom) / 2;
    make("text", { x: 12, y: up, "text-anchor": "middle", transform: `rotate(-90 12 ${up})` }, svg, seen.y);
  }

  function lines(parent, one, x, y) {
    const front = one.points.filter((point) => point.front);
    const banded = front.filter((point) => point.width !== null);
    if (banded.length > 1) {
      const above = banded.map((point) => `${x(point.x)},${y(point.y + point.width)}`);
      const below = banded.map((point) => `${x(point.x)},${y(point.y - point.width)}`).reverse();
      make("polygon", { points: [...above, ...below].join(" "), fill: one.method.colour, class: "band" }, parent);
    }
    make("polyline", {
      points: front.map((point) => `${x(point.x)},${y(point.y)}`).join(" "), fill: "none",
      stroke: one.method.colour, class: one.best ? "line best" : "line",
      "stroke-dasharray": one.method.s ? "none" : "5 3",
    }, parent);
  }

  function mark(parent, one, point, x, y) {
    const [at, up] = [x(point.x), y(point.y)];
    const button = make("g", {
      role: "button", tabindex: -1, "aria-label": point.label,
      class: ["point", point.front ? "" : "off", point.chosen ? "chosen" : ""].join(" "),
    }, parent);
    make("title", {}, button, point.label);
    make("circle", { cx: at, cy: up, r: 11, class: "target" }, button);
    if (point.chosen) make("circle", { cx: at, cy: up, r: one.best ? 9 : 7.5, class: one.best ? "ring best" : "ring" }, button);
    make("text", { x: at, y: up, fill: one.method.colour, class: "mark" }, button, `${one.method.mark}\ufe0e`);
    button.addEventListener("click", () => choose(button, point));
    button.addEventListener("keydown", (event) => move(event, button, point));
  }

  function choose(button, point) {
    for (const other of host.querySelectorAll("[aria-pressed]")) other.removeAttribute("aria-pressed");
    button.setAttribute("aria-pressed", true);
    press(point.row);
  }

  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  function move(event, button, point) { // the plot is one stop of the tab key; arrows go on from there
    const all = [...host.querySelectorAll(".point")];
    const places = { Home: 0, End: all.length - 1 };
    const to = places[event.key] ?? all.indexOf(button) + (STEPS[event.key] ?? NaN);
    if (event.key === "Enter" || event.key === " ") choose(button, point);
    else if (!all[to]) return;
    else {
      button.setAttribute("tabindex", -1);
      all[to].setAttribute("tabindex", 0);
      all[to].focus();
    }
    event.preventDefault();
  }

  new ResizeObserver(() => { if (seen && Math.max(280, host.clientWidth) !== width) draw(seen); }).observe(host);
  return draw;
}
