// The explorer of the fronts. What it says is what `python -m study.commands.choose` says: the
// functions of the first two parts have the names and the rules that study/offers.py and
// study/commands/choose.py give them. What it shows is in the address, so that a view can be sent.
{
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const form = document.getElementById("explorer");
  const field = (name) => form.elements[name];
  const there = (value) => value !== null;

  // -- offers: one for each method, within a budget -----------------------------------------------

  // An array of the data as an object; what follows method, notion and strength is named.
  const named = (names, values) => Object.fromEntries(names.map((name, i) => [name, values[i]]));
  const rowsOf = {};
  function rows(place) { // of results/fronts.csv
    rowsOf[place] ??= data.places[place].rows.map(([method, notion, strength, ...figures]) => (
      { method: data.methods[method], notion, strength, ...named(data.columns, figures) }));
    return rowsOf[place];
  }

  function figures({ place, notion }) { // every strength that competes under the notion
    const { gap, score, rows: taking } = data.notions[notion];
    return rows(place).filter((row) => taking.includes(row.notion)).map((row) => {
      const offer = {
        row, method: row.method, strength: row.strength, constant: row.constant,
        score: row[score], score_width: row[`${score}_width`] ?? null,
        validation_score: row[`validation_${score}`],
        gap: row[gap], gap_width: row[`${gap}_width`] ?? null,
        validation_gap: row[`validation_${gap}`], chance: row[`${gap}_null`] ?? null,
      };
      const whole = [offer.score, offer.gap, offer.validation_score, offer.validation_gap].every(there);
      return whole ? offer : null;
    }).filter(there);
  }

  // The first of an order; of equals the one that comes first.
  const first = (offers, before) => offers.reduce((a, b) => (a && before(a, b) <= 0 ? a : b), null);
  const better = (a, b) => b.validation_score - a.validation_score || a.validation_gap - b.validation_gap;
  const fairer = (a, b) => a.validation_gap - b.validation_gap || b.validation_score - a.validation_score;

  function ofMeans(view) {
    const found = new Map();
    for (const offer of figures(view)) {
      if (!found.has(offer.method)) found.set(offer.method, []);
      found.get(offer.method).push(offer);
    }
    return [...found.values()].map((own) => {
      own.sort((a, b) => a.strength - b.strength);
      const inside = own.filter((offer) => offer.validation_gap <= view.budget);
      return { ...(first(inside, better) ?? first(own, fairer)), within: Number(inside.length > 0) };
    });
  }

  // What splits have chosen, for the budgets that they did; undefined for others.
  function ofSplits({ place, notion, budget }) {
    const at = data.budgets.findIndex((one) => Math.abs(one - budget) <= 1e-9);
    const chosen = data.places[place].chosen[notion][at];
    const read = (names) => (values) => {
      const offer = named(names, values);
      return { ...offer, method: data.methods[offer.method] };
    };
    return chosen && { taken: chosen.taken.map(read(data.taken)), listed: chosen.listed.map(read(data.listed)) };
  }

  function recommended(offers) {
    const most = Math.max(...offers.map((offer) => offer.within));
    return most > 0 ? first(offers.filter((offer) => offer.within === most), better) : null;
  }

  // -- the answer ---------------------------------------------------------------------------------

  const fixed = (value) => value.toFixed(3);
  const signed = (value) => (fixed(value).startsWith("-") ? "" : "+") + fixed(value);
  function percent(share) { // halves to even, as Python rounds
    const [whole, half] = [Math.floor(share * 100), share * 100 - Math.floor(share * 100)];
    return `${half > 0.5 || (half === 0.5 && whole % 2) ? whole + 1 : whole}%`;
  }
  const figure = (offer, name) => fixed(offer[name])
    + (there(offer[`${name}_width`]) ? ` ± ${fixed(offer[`${name}_width`])}` : "");

  class Answer {
    constructor(offers, view, means) {
      this.offers = view.s === "no" ? offers.filter((offer) => !offer.method.s) : offers;
      [this.means, this.budget, this.notion] = [means, view.budget, view.notion];
      [this.score, this.gap] = ["score", "gap"].map((of) => data.names[data.notions[view.notion][of]]);
      this.best = recommended(this.offers);
    }

    text() {
      if (!this.offers.length) return ["Nothing does without the group."];
      return this.best ? [...this.take(), this.training(), this.group()] : [this.nothing()];
    }

    nothing() {
      const least = first(this.offers, fairer);
      return `Nothing has a ${this.means ? "mean" : "split's"} validation ${this.gap} of ${this.budget} or less; `
        + `the lowest mean is ${fixed(least.validation_gap)}, of ${least.method.name} at strength ${least.strength}.`;
    }

    named(offer) {
      const some = offer.within === 1 ? "" : `, within the budget in ${percent(offer.within)} of splits`;
      return `${offer.method.name} at strength ${offer.strength} (test ${this.score} ${figure(offer, "score")}, `
        + `test ${this.gap} ${figure(offer, "gap")}${some})`;
    }

    against(offer, other) {
      const more = other.score - offer.score;
      const widths = [offer.score_width, other.score_width].filter(there);
      const little = widths.length && Math.abs(more) <= Math.max(...widths);
      return `${signed(more)} of test ${this.score}, ${signed(other.gap - offer.gap)} of test ${this.gap}`
        + (little ? ` (that ${this.score} is no more than the intervals are wide)` : "");
    }

    take() {
      const { best, gap } = this;
      const said = [`Take ${this.named(best)}.`];
      if (best.constant > 0) {
        said.push(`But in ${percent(best.constant)} of splits it is a constant predictor: its ${gap} is low `
          + "because it tells nobody apart.");
      }
      if (best.method.random.includes(this.notion)) {
        said.push("But its rule is random: it may decide about two alike by lot.");
      }
      if (there(best.chance) && best.gap <= best.chance) {
        said.push(`Its test ${gap} is below chance: on so few rows as fair as can be told.`);
      }
      if (best.gap > this.budget) said.push(`But on test rows its mean ${gap} is above ${this.budget}.`);
      return said;
    }

    training() {
      const { best } = this;
      const trained = (offer) => offer.method.kind === "trained";
      const other = recommended(this.offers.filter((offer) => trained(offer) !== trained(best)));
      if (trained(best)) {
        if (!other) return "Only training for fairness is within the budget.";
        return "Training for fairness is chosen here; the best without it is "
          + `${this.named(other)}: ${this.against(best, other)}.`;
      }
      const said = `No training for fairness is needed: ${best.method.name} is an unconstrained model`
        + (best.method.kind === "rule" ? " with a rule on its scores" : "");
      if (!other) return `${said}; nothing that was trained for it is within the budget.`;
      return `${said}. The best with it is ${this.named(other)}: ${this.against(best, other)}.`;
    }

    group() {
      const { best } = this;
      if (!best.method.s) return `The group need not be known at test time: ${best.method.name} does without it.`;
      const other = recommended(this.offers.filter((offer) => !offer.method.s));
      const said = `${best.method.name} needs the group at test time`;
      if (!other) return `${said}; nothing that does without it is within the budget.`;
      return `${said}. Without it take ${this.named(other)}: ${this.against(best, other)}.`;
    }
  }

  // -- the view, in the controls and in the address -----------------------------------------------

  const AT = "#explore?";
  const FIELDS = ["place", "notion", "s", "budget", "x", "y"];
  const boxes = [...form.querySelectorAll("[name=method]")];
  const usual = boxes.filter((box) => box.defaultChecked).map((box) => box.value);

  function read() {
    const view = Object.fromEntries(FIELDS.map((name) => [name, field(name).value]));
    const shown = boxes.filter((box) => box.checked).map((box) => box.value);
    return { ...view, budget: Math.min(Math.max(Number(view.budget) || 0, 0), 1), shown };
  }

  // A view that was sent; what it does not say, or says wrongly, is as it was.
  function arrive() {
    if (!location.hash.startsWith(AT)) return;
    const sent = new URLSearchParams(location.hash.slice(AT.length));
    if (isNaN(sent.get("budget"))) sent.delete("budget");
    for (const name of FIELDS.filter((of) => sent.has(of))) {
      const before = field(name).value;
      field(name).value = sent.get(name);
      if (field(name).value === "") field(name).value = before;
    }
    if (sent.has("notion") && !sent.has("x")) ownAxes();
    const asked = sent.get("methods")?.split(",") ?? usual;
    const more = sent.has("method") ? [sent.get("method")] : [];
    for (const box of boxes) box.checked = [...asked, ...more].includes(box.value);
    field("slider").value = field("budget").value;
    show();
    document.getElementById("explore").scrollIntoView();
  }

  function remember(view) {
    const sent = new URLSearchParams(FIELDS.map((name) => [name, view[name]]));
    if (view.shown.join() !== usual.join()) sent.set("methods", view.shown.join());
    history.replaceState(null, "", AT + sent.toString().replaceAll("%2F", "/").replaceAll("%2C", ","));
  }

  function ownAxes() { // those that the notion is about
    const { gap, score } = data.notions[field("notion").value];
    [field("x").value, field("y").value] = [gap, score];
  }

  // -- what is shown ------------------------------------------------------------------------------

  const part = (name) => form.querySelector(`.explorer-${name}`);
  const hint = part("point").textContent;
  let pressed = null; // where the point is whose figures are shown
  const draw = plot(part("plot"), (row) => describe(row, read()));

  function forget() {
    pressed = null;
    part("point").textContent = hint;
  }

  function show() {
    const view = read();
    const split = ofSplits(view);
    const offers = split ? split.taken : ofMeans(view);
    const answer = new Answer(offers, view, !split);
    const listed = (split ? split.listed : offers.filter((offer) => offer.within > 0).sort(better))
      .filter((offer) => view.s === "yes" || !offer.method.s);
    const [take, ...rest] = answer.text();
    part("take").textContent = take;
    part("rest").textContent = rest.join(" ");
    part("basis").textContent = split
      ? "Each split’s own validation rows chose; the strength is the median over splits."
      : "Means over splits choose, as there is no such budget in the tables: test figures are slightly optimistic.";
    form.dataset.method = answer.best?.method.id ?? "";
    form.dataset.strength = answer.best?.strength ?? "";
    list(listed, answer, view);
    part("methods").textContent = `Methods drawn: ${view.shown.length} of ${boxes.length}`;
    if (pressed && pressed !== view.place) forget();
    const drawn = series(view, listed, answer.best);
    part("legend").replaceChildren(...drawn.map(({ method, best }) => {
      const mark = Object.assign(document.createElement("span"), { textContent: `${method.mark}\ufe0e` });
      mark.style.color = method.colour;
      const entry = Object.assign(document.createElement("li"), { className: best ? "best" : "" });
      entry.append(mark, ` ${method.name}`);
      return entry;
    }));
    draw({
      series: drawn,
      shade: rows(view.place).find((row) => row.method.id === "vanilla")?.[`${view.x}_null`] ?? null,
      budget: view.x === data.notions[view.notion].gap ? view.budget : null,
      x: data.names[view.x], y: data.names[view.y],
      label: `${data.names[view.y]} against ${data.names[view.x]} on ${data.places[view.place].name}; `
        + "arrow keys go from point to point, Enter shows its figures",
    });
  }

  // The methods that are drawn, the one to take last, with their points. A front joins the strengths
  // that no other of the method beats in both validation figures.
  function series(view, listed, best) {
    const offers = figures(view).filter(({ row }) => there(row[view.x]) && there(row[view.y]));
    const drawn = data.methods.filter((m) => m === best?.method || view.shown.includes(m.id));
    drawn.sort((a, b) => (a === best?.method) - (b === best?.method));
    return drawn.map((method) => {
      const own = offers.filter((offer) => offer.method === method);
      const taken = listed.find((offer) => offer.method === method);
      const off = (offer) => Math.abs(offer.strength - taken.strength);
      const chosen = taken && first(own, (a, b) => off(a) - off(b));
      const points = own.map((offer) => ({
        row: offer.row, x: offer.row[view.x], y: offer.row[view.y], chosen: offer === chosen,
        width: offer.row[`${view.y}_width`] ?? null,
        front: !own.some((other) => better(other, offer) < 0 && fairer(other, offer) < 0),
        label: `${method.name} at strength ${offer.strength}: ${data.names[view.y]} ${fixed(offer.row[view.y])}, `
          + `${data.names[view.x]} ${fixed(offer.row[view.x])}${offer === chosen ? "; chosen for the budget" : ""}`,
      }));
      points.sort((a, b) => a.x - b.x);
      return { method, points, best: method === best?.method };
    });
  }

  function list(listed, answer, view) {
    part("listed").replaceChildren(...listed.map((offer) => {
      const line = document.createElement("tr");
      const name = document.createElement("th");
      name.scope = "row";
      name.textContent = `${offer.method.mark}\ufe0e ${offer.method.name}`;
      const texts = [offer.strength, offer.method.s ? "yes" : "no", fixed(offer.validation_score),
        fixed(offer.validation_gap), fixed(offer.score), fixed(offer.gap)];
      line.append(name, ...texts.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
      line.className = offer.method === answer.best?.method ? "best" : "";
      return line;
    }));
    part("count").textContent = `Within the budget: ${listed.length} method${listed.length === 1 ? "" : "s"}`;
    for (const [of, name] of Object.entries({ score: answer.score, gap: answer.gap })) {
      for (const head of form.querySelectorAll(`.of-${of}`)) head.textContent = name;
    }
  }

  function rates(row, groups) { // the lowest first; a group may be missing in all splits
    const of = groups.map((group, i) => [group, row.rates?.[i] ?? null]).filter(([, rate]) => there(rate));
    return of.sort(([, a], [, b]) => a - b).map(([group, rate]) => `${group} ${fixed(rate)}`).join(", ") || "–";
  }

  function describe(row, view) { // the figures of a point
    const text = (name, width = `${name}_width`) => (there(row[name] ?? null)
      ? fixed(row[name]) + (there(row[width] ?? null) ? ` ± ${fixed(row[width])}` : "") : "–");
    const figuresOf = (names) => names.map((name) => `${data.names[name]} ${text(name)}`).join(", ");
    const nulls = Object.keys(row).filter((name) => name.endsWith("_null") && there(row[name]))
      .map((name) => `${data.names[name.slice(0, -5)]} ${fixed(row[name])}`);
    const scores = Object.values(data.notions).map((of) => of.score);
    const gaps = Object.values(data.notions).map((of) => of.gap);
    const entries = {
      "On test rows": figuresOf(Object.keys(data.names)),
      "Groups": `all are selected at a rate of ${text("selection_rate")}; the lowest group’s rate is `
        + `${text("parity_ratio")} of the highest’s, ${text("largest_gap")} apart; the worst group’s accuracy is `
        + `${text("worst_accuracy")}`,
      "Selected in each group": rates(row, data.places[view.place].groups),
      "On validation rows": [...new Set([...scores, ...gaps])]
        .map((name) => `${data.names[name]} ${text(`validation_${name}`)}`).join(", "),
      "Below which 95 % of fair predictors stay": nulls.join(", ") || "–",
    };
    const title = document.createElement("p");
    title.append(Object.assign(document.createElement("strong"),
      { textContent: `${row.method.name} at strength ${row.strength}` }), ` on ${data.places[view.place].name}.`);
    const shown = document.createElement("dl");
    for (const [term, said] of Object.entries(entries)) {
      shown.append(Object.assign(document.createElement("dt"), { textContent: term }),
        Object.assign(document.createElement("dd"), { textContent: said }));
    }
    part("point").replaceChildren(title, shown);
    const { more } = data.places[view.place];
    if (more) {
      const line = document.createElement("p");
      line.append(Object.assign(document.createElement("a"),
        { href: more, textContent: "Every group’s rate and accuracy, of the paper’s own runs" }), ".");
      part("point").append(line);
    }
    pressed = view.place;
  }

  // -- the controls -------------------------------------------------------------------------------

  function changed(event) {
    const name = event.target.name;
    if (name === "slider") field("budget").value = field("slider").value;
    if (name === "budget") field("slider").value = field("budget").value;
    if (name === "notion") ownAxes();
    show();
  }
  form.addEventListener("input", changed);
  form.addEventListener("change", () => remember(read())); // once a slider is let go
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const asked = event.target.dataset.show;
    if (!asked) return;
    for (const box of boxes) box.checked = asked === "all" || (asked === "usual" && box.defaultChecked);
    show();
    remember(read());
  });
  addEventListener("hashchange", arrive);
  form.reset(); // a browser may remember what was chosen before a reload
  show();
  arrive();
}
