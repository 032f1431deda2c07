// Parses the Prometheus text format for tests: samples by name and labels, and names of metrics.

const SAMPLE = /^([a-zA-Z_:][\w:]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*\})?) (\S+)$/;

/**
 * Returns the value of each sample. The key is the name with the labels, verbatim. Throws on a line
 * that is not a sample and on duplicates.
 */
export function samplesOf(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const match = SAMPLE.exec(line);
    if (match === null) throw new Error(`no sample: ${line}`);
    const [, name, value] = match as unknown as [string, string, string];
    if (samples.has(name)) throw new Error(`twice: ${name}`);
    samples.set(name, Number(value.replace('+Inf', 'Infinity').replace('Nan', 'NaN')));
  }
  return samples;
}

/**
 * Returns the names that a query may use: `_bucket`, `_sum` and `_count` of each histogram, and the
 * name of every other metric.
 */
export function metricNames(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    if (type === 'histogram') for (const part of ['_bucket', '_sum', '_count']) names.add(name + part);
    else names.add(name!);
  }
  return names;
}
