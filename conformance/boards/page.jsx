// Draws one board: window.board has its rows, panels and the results of the queries.
// Charts, figures and tables are components of @grafana/ui. That package has no heatmap
// and no round gauge: the heatmap is a drawing of our own, and gauges are bars.
//
// The CommonJS forms are required, because the others import CommonJS packages in a way
// that only Grafana's own bundler understands.
const { createRoot } = require('react-dom/client');
const { applyFieldOverrides, createTheme, dateTime, FieldType, ThemeContext, toDataFrame } = require('@grafana/data');
const {
  BarGauge, BigValue, BigValueColorMode, BigValueGraphMode, GlobalStyles, PanelChrome, Table, TimeSeries,
} = require('@grafana/ui');

const board = window.board;
const theme = createTheme({ colors: { mode: 'light' } });
const [from, to] = [board.times[0], board.times.at(-1)].map((time) => dateTime(time));
const range = { from, to, raw: { from, to } };
const unit = 30, gap = 8, width = board.width;
const boxOf = (at) => ({
  left: (at.x * (width + gap)) / 24, top: at.y * (unit + gap),
  width: (at.w * (width + gap)) / 24 - gap, height: at.h * (unit + gap) - gap,
});

// The fields of a panel's configuration that the components below read. Grafana
// registers them in its application, which is not a package.
const property = (isCustom) => (path) => ({
  id: (isCustom ? 'custom.' : '') + path, path, name: path, isCustom, settings: {},
  process: (value) => value, shouldApply: () => true,
});
const properties = [
  ...['unit', 'min', 'max', 'decimals', 'displayName', 'thresholds', 'color', 'noValue'].map(property(false)),
  ...['lineStyle', 'stacking', 'fillOpacity', 'thresholdsStyle', 'lineWidth', 'filterable', 'axisSoftMax'].map(property(true)),
];
const registry = {
  list: () => properties,
  getIfExists: (id) => properties.find((p) => id === p.id),
};

const legendOf = (format, labels) =>
  (format || '').replace(/\{\{\s*(.+?)\s*\}\}/g, (_, name) => labels[name] ?? '').trim() ||
  '{' + Object.entries(labels).map(([k, v]) => `${k}="${v}"`).join(', ') + '}';

function framesOf(entry) {
  const { panel, results } = entry;
  const frames = results.map((r) => toDataFrame({
    refId: r.refId, name: legendOf(r.legend, r.labels),
    fields: [
      { name: 'Time', type: FieldType.time, values: board.times, config: {} },
      { name: 'Value', type: FieldType.number, values: r.values, labels: r.labels,
        config: { displayNameFromDS: legendOf(r.legend, r.labels) } },
    ],
  }));
  return override(panel, frames);
}

function override(panel, frames) {
  const fieldConfig = structuredClone(panel.fieldConfig ?? { defaults: {}, overrides: [] });
  for (const step of fieldConfig.defaults.thresholds?.steps ?? []) step.value ??= -Infinity;
  return applyFieldOverrides({
    data: frames, fieldConfig, replaceVariables: (v) => v, theme, timeZone: 'utc', fieldConfigRegistry: registry,
  });
}

function Chart({ entry, w, h }) {
  const frames = framesOf(entry);
  if (!frames.length) return <Empty />;
  return <TimeSeries frames={frames} timeRange={range} timeZone="utc" width={w} height={h}
    legend={entry.panel.options.legend} />;
}

const Empty = () => <div style={{ color: '#777', textAlign: 'center', paddingTop: 30 }}>No data</div>;

function Figure({ entry, w, h }) {
  const [frame] = framesOf(entry);
  if (!frame) return <Empty />;
  const field = frame.fields[1];
  const value = field.values.filter((v) => v !== null).at(-1);
  const display = field.display(value);
  if (entry.panel.type === 'gauge') {
    return <BarGauge width={w} height={h} theme={theme} value={display} field={field.config} displayMode="basic"
      orientation="horizontal" />;
  }
  return <BigValue width={w} height={h} theme={theme} value={display}
    colorMode={entry.panel.options.colorMode ?? BigValueColorMode.Value} graphMode={BigValueGraphMode.Area}
    sparkline={{ y: field, x: frame.fields[0] }} />;
}

function Grid({ entry, w, h }) {
  // As the transformations merge and organize do: one row for each set of labels.
  const order = entry.panel.transformations?.find((t) => t.id === 'organize')?.options ?? {};
  const rows = new Map(), names = new Set();
  for (const r of entry.results) {
    const key = JSON.stringify(r.labels);
    if (!rows.has(key)) rows.set(key, { ...r.labels });
    rows.get(key)['Value #' + r.refId] = r.values.at(-1);
    Object.keys(rows.get(key)).forEach((n) => names.add(n));
  }
  const index = (n) => order.indexByName?.[n] ?? 99;
  const columns = [...names].sort((a, b) => index(a) - index(b));
  const all = [...rows.values()];
  const sortBy = entry.panel.options.sortBy?.[0];
  const title = (n) => order.renameByName?.[n] ?? n;
  const by = columns.find((n) => title(n) === sortBy?.displayName);
  if (by) all.sort((a, b) => (sortBy.desc ? -1 : 1) * ((a[by] ?? 0) - (b[by] ?? 0)));
  const [frame] = override(entry.panel, [toDataFrame({ fields: columns.map((n) => ({
    name: title(n), type: n.startsWith('Value #') ? FieldType.number : FieldType.string,
    values: all.map((row) => row[n] ?? null), config: {},
  })) })]);
  return <Table data={frame} width={w} height={h} ariaLabel={entry.panel.title} fieldConfig={entry.panel.fieldConfig} />;
}

function Heat({ entry, w, h }) {
  const size = Number(entry.panel.options.calculation?.yBuckets?.value ?? 10), rows = 100 / size;
  const cells = board.times.map((_, t) => {
    const n = Array(rows).fill(0);
    for (const r of entry.results) if (r.values[t] !== null) n[Math.min(rows - 1, Math.floor(r.values[t] / size))]++;
    return n;
  });
  const most = Math.max(1, ...cells.flat());
  const cw = (w - 50) / cells.length, ch = (h - 20) / rows;
  return (
    <svg width={w} height={h}>
      {cells.map((n, t) => n.map((v, i) => v > 0 &&
        <rect key={t + '-' + i} x={50 + t * cw} y={(rows - 1 - i) * ch} width={cw - 0.5} height={ch - 0.5}
          fill={`rgba(8,48,107,${0.12 + (0.88 * v) / most})`} />))}
      {[0, 50, 100].map((v) => <text key={v} x={4} y={h - 20 - (v / 100) * (h - 30)} fontSize="11">{v}%</text>)}
    </svg>
  );
}

const Content = (props) => {
  switch (props.entry.panel.type) {
    case 'timeseries': return <Chart {...props} />;
    case 'table': return <Grid {...props} />;
    case 'heatmap': return <Heat {...props} />;
    default: return <Figure {...props} />;
  }
};

function Board() {
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <div style={{ position: 'relative', width, height: board.height, background: theme.colors.background.canvas }}>
        {board.rows.map((row) => (
          <div key={row.title} style={{ position: 'absolute', ...boxOf(row.at), fontSize: 18, fontWeight: 500 }}>
            {row.collapsed ? '▸ ' : '▾ '}{row.title}{row.collapsed ? ' (folded when the board opens)' : ''}
          </div>
        ))}
        {board.panels.map((entry) => {
          const at = boxOf(entry.panel.gridPos);
          return (
            <div key={entry.panel.id} style={{ position: 'absolute', ...at }}>
              <PanelChrome title={entry.panel.title} description={entry.panel.description} width={at.width}
                height={at.height}>
                {(w, h) => <Content entry={entry} w={w} h={h} />}
              </PanelChrome>
            </div>
          );
        })}
      </div>
    </ThemeContext.Provider>
  );
}

createRoot(document.getElementById('board')).render(<Board />);
