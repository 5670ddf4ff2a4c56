'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  // encoding/json writes null for an empty list.
  for (const table of [data, data.jobs, data.runs, data.waiting, data.nodes]) {
    for (const name of Object.keys(table)) {
      table[name] ??= [];
    }
  }
  const {end, texts, tiers, jobs, runs, bands} = data;
  const byId = (id) => document.getElementById(id);
  const began = performance.now();
  const charts = [];
  const view = {min: 0, max: end};
  let colors = {};
  let selected = -1;

  // Colors come from the style sheet, which has them for light and dark pages.
  const readColors = () => {
    const style = getComputedStyle(document.documentElement);
    colors = {};
    for (const name of ['page', 'ink', 'soft', 'line', 'fill', 'band', 'alert', 'focus', 'c0', 'c1', 'c2', 'c3', 'c4',
      'c5', 'c6', 'c7']) {
      colors[name] = style.getPropertyValue('--' + name).trim();
    }
  };
  const colorOf = (i) => colors['c' + i % 8];
  const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [14, 4]];
  const dashOf = (i) => dashes[(i + Math.floor(i / 8)) % dashes.length];

  // picture returns a sample for a legend. It is drawn again when the colors change.
  const pictures = new Map();
  const picture = (draw, width) => {
    const canvas = document.createElement('canvas');
    canvas.className = 'sample';
    canvas.style.width = width + 'px';
    pictures.set(canvas, () => {
      canvas.width = width * devicePixelRatio;
      canvas.height = 14 * devicePixelRatio;
      const ctx = canvas.getContext('2d');
      ctx.scale(devicePixelRatio, devicePixelRatio);
      draw(ctx);
    });
    pictures.get(canvas)();
    return canvas;
  };

  const units = [[86400, 'd'], [3600, 'h'], [60, 'm'], [1, 's']];
  const printTime = (seconds, most) => {
    let rest = Math.round(seconds), out = '', parts = 0;
    for (const [size, letter] of units) {
      const n = Math.floor(rest / size);
      if (n > 0 && parts < (most || 4)) {
        out += n + letter;
        parts++;
      }
      rest %= size;
    }
    return out || '0s';
  };
  const printAmount = (n) => n + ' ' + (n === 1 ? data.unit.slice(0, -1) : data.unit);

  // hatch returns a fill of diagonal lines.
  const hatch = (ctx, color) => {
    const tile = document.createElement('canvas');
    const size = 6 * devicePixelRatio;
    tile.width = tile.height = size;
    const pen = tile.getContext('2d');
    pen.strokeStyle = color;
    pen.lineWidth = 1.4 * devicePixelRatio;
    pen.beginPath();
    for (const x of [-size, 0, size]) {
      pen.moveTo(x, size);
      pen.lineTo(x + size, 0);
    }
    pen.stroke();
    return ctx.createPattern(tile, 'repeat');
  };

  const narrow = () => byId('timeline').clientWidth < 600;
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800,
    432000, 864000, 2592000, 8640000, 31536000];
  const timeAxis = () => ({
    stroke: () => colors.soft, grid: {stroke: () => colors.line, width: 1}, ticks: {stroke: () => colors.line},
    incrs: steps, space: 70, size: 34, font: '12px system-ui, sans-serif',
    values: (u, splits) => splits.map((v) => v < 0 ? '' : printTime(v, 2)),
  });
  const amountAxis = (size) => ({
    stroke: () => colors.soft, grid: {stroke: () => colors.line, width: 1}, ticks: {show: false}, size: size || 46,
    font: '12px system-ui, sans-serif', incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5],
    space: 26,
  });
  const sync = uPlot.sync('rehearsal');
  const options = (extra) => ({
    legend: {show: false}, ...extra,
    cursor: {
      // An amount holds from its own time on, so the point before the cursor counts.
      dataIdx: (u, line, nearest, time) => nearest > 0 && u.data[0][nearest] > time ? nearest - 1 : nearest,
      drag: {x: true, y: false, dist: 5, setScale: false}, points: {show: false}, y: false,
      bind: {dblclick: () => () => { show(0, end); return null; }},
      sync: {
        key: sync.key, scales: ['x', null], filters: {pub: (type) => type === 'mousemove' || type === 'mouseleave'},
      },
      ...extra.cursor,
    },
    hooks: {
      ...extra.hooks,
      setSelect: [(u) => {
        if (u.select.width > 5) {
          show(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
        }
        u.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
      }],
    },
  });
  const timeScale = () => ({time: false, auto: false, range: () => [view.min, view.max]});

  // show makes all charts show the time from min to max.
  const show = (min, max) => {
    const length = Math.min(Math.max(max - min, Math.min(10, end)), end);
    view.min = Math.min(Math.max(min, 0), end - length);
    view.max = view.min + length;
    for (const u of charts) {
      u.setScale('x', view);
    }
    byId('window').textContent = printTime(view.min) + ' to ' + printTime(view.max);
  };
  const act = (name) => {
    const length = view.max - view.min;
    const middle = view.min + length / 2;
    switch (name) {
      case 'in': return show(middle - length / 4, middle + length / 4);
      case 'out': return show(middle - length, middle + length);
      case 'left': return show(view.min - length / 4, view.max - length / 4);
      case 'right': return show(view.min + length / 4, view.max + length / 4);
      case 'reset': return show(0, end);
    }
  };
  const keys = {'+': 'in', '=': 'in', '-': 'out', '_': 'out', 'ArrowLeft': 'left', 'ArrowRight': 'right', '0': 'reset'};

  // prepare makes a chart's element reachable by keyboard.
  const prepare = (element, label, more) => {
    element.tabIndex = 0;
    element.setAttribute('role', 'application');
    element.setAttribute('aria-roledescription', 'chart');
    element.setAttribute('aria-label', label + ' Plus and minus zoom, the arrows left and right move, 0 shows all.');
    element.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) {
        return;
      }
      const name = keys[event.key];
      if (name) {
        act(name);
        event.preventDefault();
      } else if (more && more(event.key)) {
        event.preventDefault();
      }
    });
  };

  // The timeline: bands of lanes, one bar for each run.
  const layOut = () => {
    const lanes = bands.reduce((sum, b) => sum + b.lanes, 0);
    const height = Math.min(16, 1100 / Math.max(lanes, 1));
    const dense = height < 5;
    const headHeight = dense ? 32 : 20;
    const gap = dense ? 14 : 5;
    let top = 0;
    let capacity = null;
    for (const b of bands) {
      b.first = b.capacity !== capacity;
      capacity = b.capacity;
      top += b.first ? headHeight : gap;
      b.top = top;
      b.height = Math.max(b.lanes * height, 16);
      b.lane = b.height / Math.max(b.lanes, 1);
      top += b.height;
    }
    return {height: top + gap, dense, headHeight};
  };
  const plan = layOut();
  // topOf returns the top of a lane. The lanes of a dense timeline fill from below, as an
  // area does.
  const topOf = (b, lane) => plan.dense ? b.top + b.height - (lane + 1) * b.lane : b.top + lane * b.lane;
  const startOf = (i) => data.waits ? runs.waits[i] : runs.from[i];
  // The runs are in the order of bands, lanes and times: the first run of each lane.
  for (const b of bands) {
    b.starts = [];
  }
  runs.band.forEach((b, i) => {
    bands[b].starts[runs.lane[i]] ??= i;
    bands[b].past = i + 1;
  });
  // firstAfter returns the first run of a lane that ends after a time, or -1.
  const firstAfter = (b, lane, time) => {
    let low = b.starts[lane];
    let high = lane + 1 < b.lanes ? b.starts[lane + 1] : b.past;
    const past = high;
    while (low < high) {
      const middle = low + high >> 1;
      if (Math.max(runs.to[middle], startOf(middle) + 1) > time) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low < past ? low : -1;
  };

  // stretchLanes gives the height of each band of a dense timeline to the lanes with runs
  // in the time that is shown.
  const stretchLanes = () => {
    for (const b of bands) {
      let lanes = b.lanes;
      const isEmpty = (lane) => {
        const i = firstAfter(b, lane, view.min);
        return i < 0 || startOf(i) >= view.max;
      };
      while (lanes > 1 && isEmpty(lanes - 1)) {
        lanes--;
      }
      b.lane = Math.min(b.height / Math.max(lanes, 1), 16);
    }
  };

  const fitText = (ctx, text, width) => {
    if (ctx.measureText(text).width <= width) {
      return text;
    }
    let n = text.length;
    while (n > 1 && ctx.measureText(text.slice(0, n) + '…').width > width) {
      n--;
    }
    return text.slice(0, n) + '…';
  };

  // drawCross draws a cross around x, y, with a border that separates it from bars.
  const drawCross = (ctx, x, y, r) => {
    for (const [color, width] of [[colors.page, 4], [colors.alert, 1.8]]) {
      ctx.strokeStyle = color;
      ctx.lineWidth = width;
      ctx.beginPath();
      ctx.moveTo(x - r, y - r);
      ctx.lineTo(x + r, y + r);
      ctx.moveTo(x + r, y - r);
      ctx.lineTo(x - r, y + r);
      ctx.stroke();
    }
  };
  // drawSpikes draws how many evictions each few pixels have: heights from 3 to 10 pixels.
  const drawSpikes = (ctx, counts, most, y) => {
    ctx.fillStyle = colors.alert;
    for (const [x, n] of counts) {
      ctx.beginPath();
      ctx.moveTo(x - 2, y);
      ctx.lineTo(x + 2, y);
      ctx.lineTo(x, y - 3 - 7 * n / most);
      ctx.fill();
    }
  };

  const drawTimeline = (u) => {
    const ctx = u.ctx;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.scale(ratio, ratio);
    const left = u.bbox.left / ratio;
    const top = u.bbox.top / ratio;
    const width = u.bbox.width / ratio;
    const scale = width / (view.max - view.min);
    const toX = (t) => left + (t - view.min) * scale;
    ctx.textBaseline = 'middle';
    if (plan.dense) {
      stretchLanes();
    }
    for (const b of bands) {
      ctx.fillStyle = colors.ink;
      if (b.first) {
        ctx.font = '600 12px system-ui, sans-serif';
        ctx.textAlign = 'left';
        const title = b.capacity ? 'Capacity ' + b.capacity : 'No capacity: jobs without quota';
        ctx.fillText(title, left, top + b.top - plan.headHeight + 10);
      }
      ctx.font = '12px system-ui, sans-serif';
      ctx.textAlign = 'right';
      ctx.fillText(fitText(ctx, b.label, left - 10), left - 6, top + b.top + b.height / 2);
      ctx.fillStyle = colors.band;
      ctx.globalAlpha = 0.6;
      ctx.fillRect(left, top + b.top, width, b.height);
      ctx.globalAlpha = 1;
    }
    ctx.beginPath();
    ctx.rect(left, top, width, plan.height);
    ctx.clip();
    const waitsForNodes = tiers.map((_, i) => hatch(ctx, colorOf(i)));
    const crosses = [];
    const spikes = bands.map(() => new Map());
    bands.forEach((b, at) => {
      const inset = b.lane > 4 ? 1 : 0;
      for (let lane = 0; lane < b.lanes; lane++) {
        const y = top + topOf(b, lane) + inset;
        const height = Math.max(b.lane - 2 * inset, 0.5);
        const past = lane + 1 < b.lanes ? b.starts[lane + 1] : b.past;
        let i = firstAfter(b, lane, view.min);
        // Of the runs that end in one pixel, only the first is drawn.
        let drawn = -Infinity;
        let marked = -Infinity;
        for (; i >= 0 && i < past && startOf(i) < view.max; i++) {
          const from = toX(runs.from[i]);
          const to = Math.max(toX(runs.to[i]), from + 1);
          const tier = jobs.tier[runs.job[i]];
          if (runs.evicted[i]) {
            if (plan.dense) {
              const x = Math.round(to / 4) * 4;
              spikes[at].set(x, (spikes[at].get(x) || 0) + 1);
            } else if (to - marked > 9) {
              crosses.push([to, y + height / 2, Math.min(4.5, height / 2)]);
              marked = to;
            }
          }
          if (data.waits && runs.waits[i] < runs.from[i]) {
            ctx.fillStyle = colors.soft;
            ctx.fillRect(toX(runs.waits[i]), y + height / 2 - 0.75, from - toX(runs.waits[i]), 1.5);
            ctx.fillRect(toX(runs.waits[i]), y + height / 2 - 3, 1.5, 6);
          }
          if (runs.to[i] === runs.from[i] && !runs.evicted[i] && runs.started[i] < 0 || to <= drawn) {
            continue;
          }
          drawn = to;
          const started = runs.started[i] < 0 ? to : Math.max(toX(runs.started[i]), from);
          if (started > from + 0.5) {
            if (b.lane >= 4) {
              ctx.fillStyle = waitsForNodes[tier];
              ctx.fillRect(from, y, started - from, height);
              ctx.strokeStyle = colorOf(tier);
              ctx.lineWidth = 1;
              ctx.strokeRect(from + 0.5, y + 0.5, Math.max(started - from - 1, 0), Math.max(height - 1, 0));
            } else {
              ctx.globalAlpha = 0.45;
              ctx.fillStyle = colorOf(tier);
              ctx.fillRect(from, y, started - from, height);
              ctx.globalAlpha = 1;
            }
          }
          if (to > started) {
            ctx.fillStyle = colorOf(tier);
            const space = inset && to - started > 3 ? 1 : 0;
            ctx.fillRect(started, y, to - started - space, height);
            if (height >= 11 && to - started > 60) {
              ctx.fillStyle = colors.page;
              ctx.font = '11px system-ui, sans-serif';
              ctx.textAlign = 'left';
              const visible = Math.max(started, left);
              const label = fitText(ctx, jobs.name[runs.job[i]], Math.min(to, left + width) - visible - 14);
              if (label.length > 4) {
                ctx.fillText(label, visible + 4, y + height / 2 + 0.5);
              }
            }
          }
        }
      }
    });
    for (const [x, y, r] of crosses) {
      drawCross(ctx, x, y, r);
    }
    const most = Math.max(...spikes.map((counts) => Math.max(0, ...counts.values())));
    spikes.forEach((counts, at) => drawSpikes(ctx, counts, most, top + bands[at].top - 1));
    if (selected >= 0) {
      const b = bands[runs.band[selected]];
      const x = toX(startOf(selected));
      ctx.strokeStyle = colors.focus;
      ctx.lineWidth = 2.5;
      const y = top + topOf(b, runs.lane[selected]);
      ctx.strokeRect(x - 1, y - 1, Math.max(toX(runs.to[selected]) - x, 2) + 2, Math.max(b.lane, 3) + 2);
    }
    ctx.restore();
  };

  // describe returns the text about a run.
  const describe = (i) => {
    const j = runs.job[i];
    const b = bands[runs.band[i]];
    const lines = [jobs.name[j] + ', ' + texts[jobs.team[j]] + ', tier ' + tiers[jobs.tier[j]] +
      (jobs.amount[j] ? ', ' + printAmount(jobs.amount[j]) : '')];
    const last = runs.to[i] === end && texts[jobs.outcome[j]] === 'running' && !runs.evicted[i];
    let line = 'Arrived at ' + printTime(jobs.at[j]);
    if (!b.capacity) {
      lines.push(line + ', without quota from ' + printTime(runs.waits[i]) + ' to ' + printTime(runs.to[i]));
    } else {
      line += ', quota on ' + b.capacity + ' at ' + printTime(runs.from[i]);
      line += ' after ' + printTime(runs.from[i] - runs.waits[i]);
      line += runs.started[i] < 0 ? ', pods never ran' : ', pods ran at ' + printTime(runs.started[i]);
      lines.push(line + (last ? ', runs at the end' : ', ended at ' + printTime(runs.to[i])));
    }
    if (runs.evicted[i]) {
      line = 'Evicted: ' + texts[runs.evicted[i]] + (runs.by[i] ? ' by ' + texts[runs.by[i]] : '');
      lines.push(line + (runs.cause[i] ? ', ' + texts[runs.cause[i]] : ''));
    }
    if (jobs.why[j]) {
      lines.push('Why it waited: ' + texts[jobs.why[j]]);
    }
    return lines.join('\n');
  };

  // runAt returns the run at a position of the plot, or -1.
  const runAt = (u, x, y) => {
    const b = bands.find((b) => y >= b.top && y < b.top + b.height);
    if (!b || !b.lanes) {
      return -1;
    }
    const place = plan.dense ? b.top + b.height - y : y - b.top;
    const lane = Math.max(Math.min(Math.floor(place / b.lane), b.lanes - 1), 0);
    const slack = (view.max - view.min) / u.bbox.width * devicePixelRatio * 3;
    const time = u.posToVal(x, 'x');
    const i = firstAfter(b, lane, time - slack);
    return i >= 0 && startOf(i) <= time + slack ? i : -1;
  };

  const tip = byId('tip');
  const placeTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4)) + 'px';
    tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18) + 'px';
  };

  // The order in which the keys walk through the runs: by time, then by place.
  let walk = null;
  const select = (step) => {
    walk ??= Array.from(runs.job.keys()).sort((a, b) => startOf(a) - startOf(b) || a - b);
    if (walk.length === 0) {
      return;
    }
    let at = walk.indexOf(selected);
    at = at < 0 ? walk.findIndex((i) => runs.to[i] >= view.min) : Math.min(Math.max(at + step, 0), walk.length - 1);
    selected = walk[Math.max(at, 0)];
    byId('job').textContent = describe(selected);
    const from = startOf(selected);
    if (from > view.max || runs.to[selected] < view.min) {
      const length = view.max - view.min;
      show(from - length / 4, from + length * 3 / 4);
    } else {
      charts[0].redraw(false);
    }
  };

  const addTimeline = () => {
    const element = byId('timeline');
    const longest = bands.reduce((n, b) => Math.max(n, b.label.length), 0);
    const u = new uPlot(options({
      width: element.clientWidth, height: plan.height + 38, padding: [4, 16, 0, 0],
      scales: {x: timeScale(), y: {range: () => [plan.height, 0]}},
      axes: [timeAxis(), {
        size: () => narrow() ? 96 : Math.min(230, 24 + longest * 7), splits: () => [], grid: {show: false},
        ticks: {show: false},
      }],
      series: [{}, {show: false}],
      hooks: {
        draw: [drawTimeline],
        setCursor: [(u) => {
          const {left, top, event} = u.cursor;
          const i = event && left >= 0 && top >= 0 ? runAt(u, left, top) : -1;
          if (i < 0) {
            tip.hidden = true;
          } else {
            placeTip(describe(i), event.clientX, event.clientY);
          }
        }],
      },
    }), [[0, end], [null, null]], element);
    charts.push(u);
    element.addEventListener('mouseleave', () => { tip.hidden = true; });
    element.addEventListener('click', (event) => {
      const i = runAt(u, u.cursor.left, u.cursor.top);
      if (i >= 0 && event.detail === 1) {
        selected = i;
        byId('job').textContent = describe(i);
        u.redraw(false);
      }
    });
    prepare(element, 'Timeline of ' + runs.job.length + ' runs of ' + jobs.name.length +
      ' jobs. The arrows up and down go from run to run. The table of jobs has the same data.', (key) => {
      if (key !== 'ArrowDown' && key !== 'ArrowUp') {
        return false;
      }
      select(key === 'ArrowDown' ? 1 : -1);
      return true;
    });
    byId('p-timeline').textContent = bands.length === 0 ? 'No job had quota.' :
      'A bar is the time for which a job has quota. A band has the jobs of one ' + data.group +
      (plan.dense ? '; its height is the largest number of jobs at one time. ' : '. ') +
      (data.waits ? '' : 'There are too many jobs to draw how long each waited; ' +
        'the chart of waiting jobs shows them together. ') +
      'Point at a bar to see its job.';
  };

  const addLegend = () => {
    const entries = tiers.map((tier, i) => ['tier ' + tier, (ctx) => {
      ctx.fillStyle = colorOf(i);
      ctx.fillRect(0, 1, 26, 12);
    }]);
    entries.push(['has quota, waits for nodes' + (plan.dense ? ' (paler)' : ''), (ctx) => {
      ctx.scale(1 / devicePixelRatio, 1 / devicePixelRatio);
      ctx.fillStyle = plan.dense ? colors.soft : hatch(ctx, colors.soft);
      ctx.globalAlpha = plan.dense ? 0.45 : 1;
      ctx.fillRect(0, devicePixelRatio, 26 * devicePixelRatio, 12 * devicePixelRatio);
    }]);
    if (data.waits) {
      entries.push(['waits for quota', (ctx) => {
        ctx.fillStyle = colors.soft;
        ctx.fillRect(0, 6, 26, 1.5);
        ctx.fillRect(0, 3.5, 1.5, 6);
      }]);
    }
    entries.push([plan.dense ? 'evictions: higher for more' : 'evicted, once or several times', (ctx) => {
      plan.dense ? drawSpikes(ctx, [[4, 0], [9, 2], [14, 1], [19, 3]], 3, 13) : drawCross(ctx, 13, 7, 4.5);
    }]);
    byId('legend').append(...entries.map(([text, draw]) => {
      const item = document.createElement('li');
      item.append(picture(draw, 26), text);
      return item;
    }));
  };

  const stepped = uPlot.paths.stepped({align: 1});
  const meanText = (s) => s.mean ? 'Each value is the mean of ' + printTime(s.mean) + '. ' : '';
  const print = (v) => v == null ? '' : String(Math.round(v * 100) / 100);

  // addLines adds a chart with a line for each name.
  const addLines = (id, names, values, label) => {
    const element = byId(id);
    byId('p-' + id).textContent = meanText(values) + (names.length === 0 ? 'There are none.' : '');
    if (names.length === 0) {
      return;
    }
    charts.push(new uPlot(options({
      width: element.clientWidth, height: 260, padding: [12, 16, 0, 0], legend: {show: true, markers: {show: false}},
      scales: {x: timeScale(), y: {range: (u, min, max) => [0, Math.max(max * 1.08, 1)]}},
      axes: [timeAxis(), amountAxis(56)],
      series: [{
        label: 'time', value: (u, v) => v == null || u.cursor.left < 0 ? '' : printTime(u.posToVal(u.cursor.left, 'x')),
      }, ...names.map((name, i) => ({
        label: name, stroke: () => colorOf(i), width: 2, dash: dashOf(i), paths: stepped,
        points: {show: false}, value: (u, v) => print(v),
      }))],
    }), [values.times, ...values.lines], element));
    element.querySelectorAll('.u-series th').forEach((cell, i) => {
      if (i > 0) {
        cell.prepend(picture((ctx) => {
          ctx.strokeStyle = colorOf(i - 1);
          ctx.lineWidth = 2.5;
          ctx.setLineDash(dashOf(i - 1));
          ctx.beginPath();
          ctx.moveTo(0, 7);
          ctx.lineTo(40, 7);
          ctx.stroke();
        }, 40));
      }
    });
    prepare(element, label);
  };

  // addTeams adds a small chart for each team.
  const addTeams = () => {
    const top = data.teams.reduce((most, t) => Math.max(most, t.guarantee, ...t.used.lines[0]), 1);
    byId('p-teams').textContent = meanText(data.teams.find((t) => t.used.mean)?.used || {}) + (data.unit === 'jobs' ?
      'No job has accelerators or vCPUs, so the charts count jobs.' :
      (data.unit === 'vCPUs' ? 'No job has accelerators, so the charts count vCPUs. ' : '') +
      'The hatched part is borrowed: a queue uses more of a capacity than its own quota of it. ' +
      'The dashed line is the guarantee of the team, the sum of these quotas. ') +
      'All charts have the same height, ' + Math.ceil(top) + ' ' + data.unit + '.';
    for (const team of data.teams) {
      const box = document.createElement('div');
      box.className = 'small';
      const title = document.createElement('h3');
      title.textContent = team.team + (team.guarantee >= 0 ? ', guarantee ' + team.guarantee : '');
      const value = document.createElement('span');
      title.append(value);
      box.append(title);
      byId('teams').append(box);
      const [used, borrowed] = team.used.lines;
      const most = 'At most ' + team.peak;
      value.textContent = most;
      const common = {paths: stepped, points: {show: false}};
      const u = new uPlot(options({
        width: box.clientWidth - 18, height: 130, padding: [8, 16, 0, 0],
        scales: {x: timeScale(), y: {range: () => [0, top * 1.08]}},
        axes: [{...timeAxis(), space: 60}, amountAxis(40)],
        series: [{},
          {...common, stroke: () => colors.c1, width: 1, fill: (u) => hatch(u.ctx, colors.c1)},
          {...common, stroke: () => colors.c0, width: 1, fill: () => colors.c0},
          {...common, show: team.guarantee >= 0, stroke: () => colors.ink, width: 1.5, dash: [5, 4]}],
        hooks: {
          setCursor: [(u) => {
            const i = u.cursor.idxs[1];
            value.textContent = i == null || u.cursor.left < 0 ? most :
              print(used[i]) + (borrowed[i] ? ', borrowed ' + print(borrowed[i]) : '') + ', at ' + printTime(u.posToVal(u.cursor.left, 'x'));
          }],
        },
      }), [
        team.used.times, used, used.map((v, i) => v - borrowed[i]), used.map(() => Math.max(team.guarantee, 0)),
      ], box);
      charts.push(u);
      prepare(box, 'Team ' + team.team + ', ' + data.unit + ' with quota over time.');
    }
  };

  readColors();
  addTimeline();
  addLegend();
  addTeams();
  addLines('waiting', tiers.map((t) => 'tier ' + t), data.waiting, 'Jobs that wait for quota over time, by tier.');
  addLines('nodes', data.capacities, data.nodes, 'Nodes over time, by capacity.');
  byId('tools').hidden = false;
  byId('tools').addEventListener('click', (event) => act(event.target.dataset.act));
  show(0, end);

  const repaint = () => {
    readColors();
    for (const draw of pictures.values()) {
      draw();
    }
    for (const u of charts) {
      u.redraw(false, true);
    }
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  new ResizeObserver(() => {
    for (const u of charts) {
      const box = u.root.parentElement;
      const width = box.clientWidth - (box.className === 'small' ? 18 : 0);
      if (width > 0 && width !== u.width) {
        u.setSize({width, height: u.height});
      }
    }
  }).observe(byId('timeline'));
  requestAnimationFrame(() => requestAnimationFrame(() => {
    document.documentElement.dataset.drawn = Math.round(performance.now());
    document.documentElement.dataset.took = Math.round(performance.now() - began);
  }));
})();
