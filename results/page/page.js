"use strict";
(function () {
  const root = document.documentElement;
  const results = JSON.parse(document.getElementById("stria-data").textContent);
  const POINTS_SHOWN = 360;
  const charts = [];

  const style = name => getComputedStyle(root).getPropertyValue(name).trim();
  const hue = index => style("--c" + index % 8);
  const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  const dash = index => DASHES[Math.floor(index / 8) % DASHES.length];
  const fade = (colour, alpha) => colour + Math.round(alpha * 255).toString(16).padStart(2, "0");

  const number = (value, digits) => value.toLocaleString("en", { maximumFractionDigits: digits, useGrouping: true });
  const rate = value => value == null ? "" : number(value / 1e6, value < 1e8 ? 1 : 0) + " MB/s";
  function scaled(value, units) {
    let unit = 0;
    while (Math.abs(value) >= 1000 && unit + 1 < units.length) { value /= 1000; unit++; }
    return number(value, Math.abs(value) < 100 ? 1 : 0) + " " + units[unit];
  }
  const size = value => value == null ? "" : scaled(value, ["B", "kB", "MB", "GB", "TB", "PB"]);
  const latency = value => value == null ? "" : scaled(value, ["ns", "µs", "ms", "s"]);
  const seconds = value => value == null ? "" : value < 600 ? number(value, 2) + " s" : number(value / 60, 1) + " min";
  const degrees = value => value == null ? "" : number(value, 1) + " °C";

  const tracks = (round, kind) => round.tracks.filter(track => track.kind === kind);

  /* Sums of neighbouring bins as rates, so few that a chart can show them, with the lowest and the highest single bin of
     each. The last bin is left out where it covers less time than the others. */
  function rates(track, bins) {
    const whole = track.values.length - (track.last_partial ? 1 : 0);
    const merged = Math.max(1, Math.ceil(whole / POINTS_SHOWN), bins || 1);
    const width = track.interval_ns / 1e9;
    const out = { x: [], mean: [], low: [], high: [], bytes: [] };
    let total = 0;
    for (let begin = 0; begin < whole; begin += merged) {
      const part = track.values.slice(begin, Math.min(begin + merged, whole));
      const sum = part.reduce((all, value) => all + (value || 0), 0);
      total += sum;
      out.x.push((begin + part.length / 2) * width);
      out.mean.push(sum / part.length / width);
      out.low.push(Math.min(...part.map(value => value || 0)) / width);
      out.high.push(Math.max(...part.map(value => value || 0)) / width);
      out.bytes.push(total);
    }
    return out;
  }

  /* Half a second at least, which shows what a person can tell apart in minutes. */
  const calm = track => Math.max(1, Math.round(0.5e9 / track.interval_ns));

  function all(round) {
    const stored = tracks(round, "stored_bytes");
    if (!stored.length) return null;
    const values = stored[0].values.map((_, bin) => stored.reduce((sum, track) => sum + (track.values[bin] || 0), 0));
    return { ...stored[0], values };
  }

  /* The round that counts: the one with the lowest rate. */
  function worst(result) {
    const drawn = result.rounds.map((round, index) => ({ round, index })).filter(one => one.round.tracks.length && one.round.counts);
    const value = one => one.round.minimum_bytes_per_s ?? one.round.mean_bytes_per_s ?? Infinity;
    return drawn.reduce((best, one) => !best || value(one) < value(best) ? one : best, null);
  }
  const roundName = (result, round) => result.rounds.length < 2 ? "" : round.label + (round.reads ? ", read" : "") + ", repeat " + (round.repeat + 1);

  /* Values of several series that have x of their own, on one x. */
  function join(parts) {
    return uPlot.join(parts.map(part => [part.x, ...part.ys]));
  }

  function axes(xText, yText) {
    const axis = { stroke: style("--soft"), font: "12px system-ui, sans-serif", grid: { stroke: style("--grid"), width: 1 },
      ticks: { stroke: style("--grid"), width: 1, size: 5 } };
    return [{ ...axis, size: 34, space: 64, values: (_, ticks) => ticks.map(value => value == null ? "" : xText(value)) },
      { ...axis, size: 62, space: 34, values: (_, ticks) => ticks.map(value => value == null ? "" : yText(value)) }];
  }

  const axisRate = value => value == null ? "" : number(value / 1e6, 1);
  const axisSeconds = value => value == null ? "" : value >= 600 ? number(value / 60, 1) + " min" : number(value, 2) + " s";

  const zero = (_, low, high) => [Math.min(0, low ?? 0), (high || 1) * 1.05];
  const tight = (_, low, high) => [low ?? 0, high > low ? high : (low ?? 0) + 1];

  function line(label, colour, value, more) {
    return { label, stroke: colour, width: 1.75, points: { show: false }, spanGaps: true, value: (_, v) => value(v), ...more };
  }

  /* Bands for what was not stored, with what it was for. */
  function gapMarks(marks) {
    return u => {
      const { ctx, bbox } = u, ratio = devicePixelRatio;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.font = 11 * ratio + "px system-ui, sans-serif";
      ctx.textBaseline = "top";
      ctx.textAlign = "left";
      let free = -Infinity;
      for (const mark of marks) {
        const left = u.valToPos(mark.from, "x", true), right = Math.max(left + 2 * ratio, u.valToPos(mark.until, "x", true));
        ctx.fillStyle = style("--gap");
        ctx.fillRect(left, bbox.top, right - left, bbox.height);
        ctx.fillStyle = style("--bad");
        ctx.fillRect(left, bbox.top, right - left, 3 * ratio);
        const width = ctx.measureText(mark.text).width, at = Math.min(left + 3 * ratio, bbox.left + bbox.width - width - 2 * ratio);
        if (at > free) {
          ctx.fillText(mark.text, at, bbox.top + 6 * ratio);
          free = at + width + 6 * ratio;
        }
      }
      ctx.restore();
    };
  }
  const gapText = gap => "gap: " + gap.cause + (gap.drive ? ", " + gap.drive : "");

  function add(place, caption, note, make) {
    const figure = document.createElement("figure");
    figure.className = "chart";
    const text = document.createElement("figcaption"), small = document.createElement("span");
    text.textContent = caption;
    small.textContent = note || "";
    text.append(small);
    figure.append(text);
    place.append(figure);
    charts.push({ figure, make, caption, plot: null });
  }

  function draw(chart) {
    if (chart.plot) chart.plot.destroy();
    const made = chart.make();
    const width = Math.max(240, chart.figure.clientWidth);
    chart.plot = new uPlot({
      width, height: Math.round(Math.min(300, Math.max(210, width * 0.5))), padding: [10, 12, 0, 0],
      cursor: { drag: { x: true, y: false }, points: { size: 6 } }, legend: { live: true }, ...made.options,
    }, made.data, chart.figure);
  }

  /* Over time: drives on top of one another, so that the upper edge is the array; the input as a line. */
  function overTime(result, round) {
    const stored = tracks(round, "stored_bytes"), input = tracks(round, "input_bytes")[0];
    const bins = calm(stored[0]);
    const parts = stored.map(track => rates(track, bins));
    const source = input && rates(input, bins);
    const sums = [], base = parts[0].mean.map(() => 0);
    for (const part of parts) {
      part.mean.forEach((value, i) => { base[i] += value; });
      sums.push(base.slice());
    }
    const series = [{ label: "time", value: (_, v) => seconds(v) }];
    const data = [parts[0].x];
    const bands = [];
    const lone = stored.length === 1;
    for (let i = sums.length - 1; i >= 0; i--) {
      const own = parts[i].mean, index = stored[i].drive;
      data.push(sums[i]);
      if (data.length > 2) bands.push({ series: [data.length - 2, data.length - 1] });
      series.push(line(result.drives[index].label, hue(index), rate, {
        width: 1, fill: fade(hue(index), 0.55),
        value: (u, v, s, at) => at == null ? "" : rate(own[at]) }));
    }
    if (!lone) {
      data.push(sums[sums.length - 1]);
      series.push(line("together", style("--ink"), rate, { width: 1.75 }));
    }
    if (source) {
      data.push(source.mean.slice(0, parts[0].x.length));
      series.push(line("input", style("--ink"), rate, { width: 1.5, dash: [5, 4] }));
    }
    const end = parts[0].x[parts[0].x.length - 1];
    const marks = result.gaps.filter(gap => gap.from_ns != null)
      .map(gap => ({ from: gap.from_ns / 1e9, until: Math.min(gap.until_ns / 1e9, end), text: gapText(gap) }))
      .concat(throttleMarks(result, round));
    return { data, options: { series, bands, axes: axes(axisSeconds, axisRate), scales: { x: { time: false, range: tight }, y: { range: zero } },
      hooks: { draw: [gapMarks(marks)] } } };
  }

  /* Each drive over the bytes that it has taken itself. */
  function overBytes(result, round) {
    const parts = tracks(round, "stored_bytes").map(track => ({ track, ...rates(track, calm(track)) }))
      .filter(part => part.bytes[part.bytes.length - 1] > 0);
    const series = [{ label: "written", value: (_, v) => size(v) }];
    for (const part of parts)
      series.push(line(result.drives[part.track.drive].label, hue(part.track.drive), rate, { dash: dash(part.track.drive) }));
    return { data: join(parts.map(part => ({ x: part.bytes, ys: [part.mean] }))),
      options: { series, axes: axes(size, axisRate), scales: { x: { time: false, range: tight }, y: { range: zero } } } };
  }

  /* All drives of each result together, the lowest and highest bin as a band when there is but one. */
  function together(shown, key, text, axisText) {
    const parts = shown.map(one => ({ one, ...rates(all(one.round), calm(all(one.round))) }));
    const series = [{ label: key === "x" ? "time" : "written", value: (_, v) => text(v) }];
    const bands = [];
    let data;
    if (parts.length === 1) {
      const part = parts[0];
      data = [part[key], part.mean, part.high, part.low];
      series.push(line(part.one.name, hue(part.one.index), rate, { width: 2 }));
      series.push(line("highest bin", fade(hue(part.one.index), 0.2), rate, { width: 0.5 }));
      series.push(line("lowest bin", fade(hue(part.one.index), 0.2), rate, { width: 0.5 }));
      bands.push({ series: [2, 3], fill: fade(hue(part.one.index), 0.18) });
    } else {
      data = join(parts.map(part => ({ x: part[key], ys: [part.mean] })));
      for (const part of parts)
        series.push(line(part.one.name, hue(part.one.index), rate, { width: 2, dash: dash(part.one.index) }));
    }
    return { data, options: { series, bands, axes: axes(axisText, axisRate),
      scales: { x: { time: false, range: tight }, y: { range: zero } } } };
  }

  /* Each power of ten further to the right is a tenth of the requests; the longest stands apart, at the right edge, because
     nothing tells how rare it is. */
  function percentiles(rows) {
    const nines = tail => -Math.log10(tail / 1e6);
    const parts = rows.map(row => ({ ...row, body: row.curve.filter(([tail]) => tail > 0), most: row.curve.find(([tail]) => tail === 0) }));
    const known = parts.flatMap(part => part.curve.map(([, ns]) => Math.max(1, ns)));
    const far = Math.max(1, ...parts.flatMap(part => part.body.map(([tail]) => nines(tail))));
    const edge = Math.ceil(far * 4) / 4 + 0.5;
    const text = at => Math.abs(at - edge) < 0.01 ? "max" : at < 0.1 ? number(100 * (1 - 10 ** -at), 0) + " %" : "p" + number(100 * (1 - 10 ** -at), Math.max(0, Math.ceil(at) - 1));
    const series = [{ label: "percentile", value: (_, v) => v == null ? "" : text(v) }];
    const data = join(parts.map(part => {
      const body = part.body.map(([tail, ns]) => [nines(tail), Math.max(1, ns)]);
      if (part.most) body.push([edge - 0.05, null], [edge, Math.max(1, part.most[1])]);
      return { x: body.map(([x]) => x), ys: [body.map(([, ns]) => ns)] };
    }));
    for (const part of parts) {
      const few = part.body.length < 8;
      series.push(line(part.label, part.colour, latency, { dash: part.dash, width: part.width || 1.75, spanGaps: false,
        points: { show: true, size: 7, fill: part.colour, stroke: part.colour,
          filter: (u, i) => u.data[i].map((v, at) => v != null && (few || Math.abs(u.data[0][at] - edge) < 0.01) ? at : -1).filter(at => at >= 0) } }));
    }
    const splits = [Math.log10(2), 1, 2, 3, 4, 5].filter(at => at < edge - 0.3).concat(edge);
    return { data, options: { series,
      axes: axes(text, latency).map((axis, i) => i ? axis : { ...axis, space: 36, splits: () => splits }),
      scales: { x: { time: false, range: () => [0, edge + 0.1] }, y: logarithmic(Math.min(...known), Math.max(...known)) } } };
  }

  /* Whole decades, so that its lines have names. */
  const logarithmic = (low, high) => ({ distr: 3, range: () => [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.01))] });

  function plain(lines, text, y, marks) {
    const series = [{ label: "time", value: (_, v) => seconds(v) }];
    for (const one of lines)
      series.push(line(one.label, one.colour, text, { dash: one.dash, fill: one.fill, width: one.width || 1.75, spanGaps: false,
        points: { show: one.y.filter(value => value != null).length < 2, size: 6, fill: one.colour } }));
    return { data: join(lines.map(one => ({ x: one.x, ys: [one.y] }))), options: { series, axes: axes(axisSeconds, text),
      scales: { x: { time: false, range: tight }, y }, hooks: { draw: [gapMarks(marks || [])] } } };
  }

  /* Few enough points, the highest value of each: peaks are what counts in latencies, temperatures and buffers. */
  function peaks(track, divisor) {
    const merged = Math.max(1, Math.ceil(track.values.length / POINTS_SHOWN));
    const x = [], y = [];
    for (let begin = 0; begin < track.values.length; begin += merged) {
      const part = track.values.slice(begin, begin + merged).filter(value => value != null);
      x.push((begin + Math.min(merged, track.values.length - begin)) * track.interval_ns / 1e9);
      y.push(part.length ? Math.max(...part) / divisor : null);
    }
    return { x, y };
  }

  /* When a drive's count of throttlings rose, and until when it went on rising. */
  function throttleMarks(result, round) {
    const marks = [];
    for (const track of tracks(round, "throttle_count")) {
      const width = track.interval_ns / 1e9, text = "throttled: " + result.drives[track.drive].label;
      let last = null, before = null;
      track.values.forEach((value, bin) => {
        if (value != null && before != null && value > before) {
          if (last && (bin - 2) * width <= last.until) last.until = (bin + 1) * width;
          else marks.push(last = { from: bin * width, until: (bin + 1) * width, text });
        }
        before = value ?? before;
      });
    }
    return marks;
  }

  /* Of all drives together the 99th percentile and the longest; of each of several, whichever of the two can be told. */
  function latencyLines(result, round) {
    const has = track => track && track.values.some(value => value != null);
    const of = (kind, drive) => tracks(round, kind).find(track => (track.drive ?? -1) === drive);
    const lines = [];
    const push = (track, more) => { if (has(track)) lines.push({ ...more, ...peaks(track, 1) }); };
    if (result.drives.length > 1)
      result.drives.forEach((drive, index) => {
        const p99 = of("latency_p99_ns", index), known = has(p99);
        push(known ? p99 : of("latency_max_ns", index), { label: drive.label + (known ? " p99" : " longest"), colour: hue(index), dash: dash(index), width: 1.25 });
      });
    push(of("latency_p99_ns", -1), { label: "p99", colour: style("--ink"), width: 2 });
    push(of("latency_max_ns", -1), { label: "longest", colour: style("--ink"), dash: [2, 3], width: 1.25 });
    return lines;
  }

  const pointName = point => point ? point.label + (point.reads ? ", read" : "") : "";

  function points(result) {
    const list = result.points;
    const series = [{ label: "point", value: (_, v) => pointName(list[v]) },
      line("rating (minimum of the minima)", hue(0), rate, { width: 2, points: { show: true, size: 8, fill: hue(0) } }),
      line("mean of the repeats", style("--soft"), rate, { dash: [4, 4], points: { show: true, size: 6, fill: style("--soft") } })];
    const bars = u => {
      const { ctx } = u, ratio = devicePixelRatio;
      ctx.save();
      ctx.strokeStyle = style("--soft");
      ctx.lineWidth = 1.5 * ratio;
      list.forEach((point, i) => {
        if (point.mean_bytes_per_s == null || point.interval_half_bytes_per_s == null) return;
        const x = u.valToPos(i, "x", true);
        const high = u.valToPos(point.mean_bytes_per_s + point.interval_half_bytes_per_s, "y", true);
        const low = u.valToPos(Math.max(0, point.mean_bytes_per_s - point.interval_half_bytes_per_s), "y", true);
        ctx.beginPath();
        ctx.moveTo(x, high); ctx.lineTo(x, low);
        for (const y of [high, low]) { ctx.moveTo(x - 5 * ratio, y); ctx.lineTo(x + 5 * ratio, y); }
        ctx.stroke();
      });
      ctx.restore();
    };
    const most = Math.max(...list.map(point => (point.mean_bytes_per_s || point.rating_bytes_per_s || 0) + (point.interval_half_bytes_per_s || 0)));
    return { data: [list.map((_, i) => i), list.map(point => point.rating_bytes_per_s), list.map(point => point.mean_bytes_per_s)],
      options: { series, hooks: { draw: [bars] },
        axes: axes(value => pointName(list[value]), axisRate).map((axis, i) => i ? axis : { ...axis, splits: () => list.map((_, at) => at) }),
        scales: { x: { time: false, range: () => [-0.4, list.length - 0.6] }, y: { range: () => [0, (most || 1) * 1.05] } } } };
  }

  function addRound(place, result, round) {
    const drive = track => ({ label: result.drives[track.drive].label, colour: hue(track.drive), dash: dash(track.drive) });
    if (tracks(round, "stored_bytes").length) {
      add(place, "Bandwidth over time", "MB/s, drives on top of one another", () => overTime(result, round));
      add(place, "Bandwidth over bytes written", "MB/s, each drive over its own", () => overBytes(result, round));
    }
    const curves = (result.drives.length > 1 ? result.drives.map((one, index) => ({ label: one.label, colour: () => hue(index), dash: dash(index), width: 1.5,
      curve: round.drive_latency_curves[index] || [] })) : [])
      .concat({ label: result.drives.length > 1 ? "together" : result.label, colour: () => style("--ink"), dash: [], width: 2.25, curve: round.latency_curve });
    const shown = curves.filter(one => one.curve.length > 1);
    if (shown.length)
      add(place, "Latency percentiles", "how long the slowest had to wait", () => percentiles(shown.map(one => ({ ...one, colour: one.colour() }))));
    if (latencyLines(result, round).length)
      add(place, "Latency over time", "of each second", () => {
        const lines = latencyLines(result, round), known = lines.flatMap(one => one.y.filter(value => value != null)).map(value => Math.max(1, value));
        return plain(lines, latency, logarithmic(Math.min(...known), Math.max(...known)));
      });
    const buffer = tracks(round, "buffer_bytes")[0];
    if (buffer && buffer.values.some(value => value != null))
      add(place, "Buffer fill", result.buffer_bytes ? "of " + size(result.buffer_bytes) : "",
        () => plain([{ label: "in use at most", colour: hue(0), fill: fade(hue(0), 0.25), ...peaks(buffer, 1) }], size,
          { range: (u, low, high) => [0, Math.max(high || 1, result.buffer_bytes || 0) * 1.02] }));
    const heat = tracks(round, "temperature_mc").filter(track => track.values.some(value => value != null));
    if (heat.length)
      add(place, "Temperature", "", () => plain(heat.map(track => ({ ...drive(track), ...peaks(track, 1000) })), degrees,
        { range: (u, low, high) => [Math.floor((low ?? 20) / 5) * 5 - 5, Math.ceil((high ?? 60) / 5) * 5 + 5] }, throttleMarks(result, round)));
  }

  function addResult(section, result) {
    const place = section.querySelector(".charts");
    if (result.points.length > 1)
      add(place, "Rating by point", "MB/s, with the 95 % interval of the mean", () => points(result));
    const drawn = result.rounds.findIndex(round => round.tracks.length);
    const chosen = worst(result) || (drawn >= 0 ? { round: result.rounds[drawn], index: drawn } : null);
    if (result.rounds.filter(round => round.tracks.length).length < 2) {
      if (result.rounds.length) addRound(place, result, (chosen || { round: result.rounds[0] }).round);
      return;
    }
    const own = document.createElement("div"), label = document.createElement("label"), select = document.createElement("select");
    own.className = "charts";
    label.className = "pick";
    label.append("Round ", select);
    result.rounds.forEach((round, index) => {
      const option = new Option(roundName(result, round) + (chosen && index === chosen.index ? " (lowest minimum)" : ""), index);
      if (round.tracks.length) select.add(option);
    });
    select.value = chosen.index;
    place.after(label, own);
    addRound(own, result, chosen.round);
    select.addEventListener("change", () => {
      for (let i = charts.length - 1; i >= 0; i--)
        if (own.contains(charts[i].figure)) { charts[i].plot?.destroy(); charts.splice(i, 1); }
      own.replaceChildren();
      const before = charts.length;
      addRound(own, result, result.rounds[select.value]);
      charts.slice(before).forEach(draw);
    });
  }

  function addTogether() {
    const place = document.querySelector("#together .charts");
    const shown = results.map((result, index) => ({ result, index, chosen: worst(result) })).filter(one => one.chosen)
      .map(one => ({ index: one.index, round: one.chosen.round, result: one.result,
        name: one.result.label + (one.result.rounds.length > 1 ? " (" + roundName(one.result, one.chosen.round) + ")" : "") }))
      .filter(one => tracks(one.round, "stored_bytes").length);
    if (shown.length) {
      add(place, "Bandwidth over time", "MB/s", () => together(shown, "x", seconds, axisSeconds));
      add(place, "Bandwidth over bytes written", "MB/s", () => together(shown, "bytes", size, size));
    }
    const rows = results.map((result, index) => ({ label: result.label, index, curve: (worst(result) || { round: result.rounds[0] }).round?.latency_curve || [] }))
      .filter(row => row.curve.length > 1);
    if (rows.length > 1)
      add(place, "Latency percentiles", "", () => percentiles(rows.map(row => ({ ...row, colour: hue(row.index), dash: dash(row.index) }))));
    if (!place.childElementCount) document.getElementById("together").remove();
  }

  function paint() {
    for (const place of document.querySelectorAll("[data-result] > .swatch, [data-result] > h2 > .swatch"))
      place.style.setProperty("--swatch", hue(+place.closest("[data-result]").dataset.result));
    for (const place of document.querySelectorAll("[data-drive] > .swatch"))
      place.style.setProperty("--swatch", hue(+place.closest("[data-drive]").dataset.drive));
    charts.forEach(draw);
  }

  /* For tests: how many charts hold something drawn inside their axes, in the colours of their series. */
  function inked(chart) {
    const { ctx, bbox } = chart.plot;
    const { data } = ctx.getImageData(bbox.left, bbox.top, bbox.width, bbox.height);
    const colours = new Set();
    let pixels = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 64) continue;
      pixels++;
      colours.add(data[i] >> 5 << 6 | data[i + 1] >> 5 << 3 | data[i + 2] >> 5);
    }
    return pixels > 200 && colours.size > 1;
  }
  function tell() {
    root.dataset.charts = charts.length;
    root.dataset.inked = charts.filter(inked).length;
    root.dataset.overflow = Math.max(0, root.scrollWidth - root.clientWidth);
    root.dataset.state = "drawn";
  }

  document.querySelectorAll("section.result").forEach((section, index) => addResult(section, results[index]));
  addTogether();
  charts.sort((one, other) => one.figure.compareDocumentPosition(other.figure) & 4 ? -1 : 1);
  paint();
  requestAnimationFrame(() => requestAnimationFrame(tell));

  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    charts.forEach(draw);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  const opened = [];
  addEventListener("beforeprint", () => {
    root.classList.add("paper");
    for (const details of document.querySelectorAll("details:not([open])")) { details.open = true; opened.push(details); }
    paint();
  });
  addEventListener("afterprint", () => {
    root.classList.remove("paper");
    while (opened.length) opened.pop().open = false;
    paint();
  });
})();
