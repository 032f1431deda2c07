// Makes the report of a soak (a long run under load): one HTML page with inline SVG plots.

import type { Sample, Verdict } from './soak-samples.ts';

const WIDTH = 860;
const HEIGHT = 150;
const MARGIN = 60;
const MEGABYTE = 2 ** 20;

interface Plot {
  title: string;
  unit: string;
  lines: readonly { name: string; of: (sample: Sample) => number }[];
}

const PLOTS: readonly Plot[] = [
  {
    title: 'Memory',
    unit: 'MB',
    lines: [
      { name: 'RSS', of: (sample) => sample.rssBytes / MEGABYTE },
      { name: 'heap', of: (sample) => sample.heapBytes / MEGABYTE },
      { name: 'resident segments', of: (sample) => sample.residentBytes / MEGABYTE },
      { name: 'memtables', of: (sample) => sample.memtableBytes / MEGABYTE },
    ],
  },
  { title: 'Log', unit: 'MB', lines: [{ name: 'log', of: (sample) => sample.logBytes / MEGABYTE }] },
  { title: 'Descriptors', unit: '', lines: [{ name: 'open', of: (sample) => sample.descriptors }] },
  { title: 'Instances', unit: '', lines: [{ name: 'instances', of: (sample) => sample.instances }] },
  { title: 'Requests a second', unit: '', lines: [{ name: 'requests', of: (sample) => sample.requests }] },
  {
    title: 'Latency',
    unit: 'ms',
    lines: [
      { name: 'p50', of: (sample) => sample.p50Ms },
      { name: 'p99', of: (sample) => sample.p99Ms },
      { name: '/health/live', of: (sample) => sample.liveMs },
    ],
  },
];

const COLOURS = ['#1f6feb', '#d1242f', '#1a7f37', '#8250df'];

export function reportPage(
  title: string,
  samples: readonly Sample[],
  verdicts: readonly Verdict[],
  tables: string,
): string {
  const rows = verdicts.map(
    ({ name, first, last, flat }) =>
      `<tr><td>${name}</td><td>${Math.round(first)}</td><td>${Math.round(last)}</td><td>${flat ? 'flat' : 'GROWS'}</td></tr>`,
  );
  return `<!doctype html><meta charset="utf-8"><title>${title}</title>
<style>body{font:14px sans-serif;max-width:900px;margin:2em auto}td,th{padding:2px 12px;text-align:right}text{font-size:11px}</style>
<h1>${title}</h1>
<p>The dashed line ends the warm-up. The values are of the fitted line at its end and at the end of the soak.</p>
<table><tr><th>figure</th><th>after warm-up</th><th>at the end</th><th></th></tr>${rows.join('')}</table>
${tables}
${PLOTS.map((plot) => plotOf(plot, samples)).join('\n')}
`;
}

function plotOf({ title, unit, lines }: Plot, samples: readonly Sample[]): string {
  const most = Math.max(1e-9, ...samples.flatMap((sample) => lines.map(({ of }) => of(sample)))) * 1.05;
  const end = samples.at(-1)?.seconds ?? 1;
  const x = (seconds: number) => (MARGIN + ((WIDTH - MARGIN - 10) * seconds) / end).toFixed(1);
  const y = (value: number) => (HEIGHT - 20 - ((HEIGHT - 30) * value) / most).toFixed(1);
  const paths = lines.map(({ of }, place) => {
    const points = samples.map((sample) => `${x(sample.seconds)},${y(of(sample))}`).join(' ');
    return `<polyline fill="none" stroke="${COLOURS[place]}" points="${points}"/>`;
  });
  const legend = lines.map(
    ({ name }, place) => `<text x="${MARGIN + 120 * place + 10}" y="10" fill="${COLOURS[place]}">${name}</text>`,
  );
  const ticks = [0, 0.5, 1].map(
    (part) =>
      `<text x="${MARGIN - 5}" y="${y(most * part)}" text-anchor="end">${(most * part).toPrecision(3)} ${unit}</text>`,
  );
  const warm = x(end * 0.3);
  return `<h2>${title}</h2><svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">
<line x1="${MARGIN}" x2="${WIDTH - 10}" y1="${y(0)}" y2="${y(0)}" stroke="#999"/>
<line x1="${warm}" x2="${warm}" y1="0" y2="${HEIGHT - 20}" stroke="#999" stroke-dasharray="4"/>
${[...paths, ...legend, ...ticks].join('\n')}
<text x="${WIDTH - 10}" y="${HEIGHT - 5}" text-anchor="end">${end.toFixed(0)} s</text></svg>`;
}

/** Returns an HTML table of a histogram of latencies, with powers of two as bounds. */
export function histogramTable(name: string, latencies: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const ms of latencies) {
    const upper = 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(ms, 0.5))));
    counts.set(upper, (counts.get(upper) ?? 0) + 1);
  }
  const rows = [...counts]
    .sort((a, b) => a[0] - b[0])
    .map(([upper, count]) => `<tr><td>up to ${upper} ms</td><td>${count}</td></tr>`);
  return `<h2>Latency of ${name}</h2><table>${rows.join('')}</table>`;
}

export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
