// Checks a text exposition against the rules of `promtool check metrics` (promlint of
// client_golang).

interface Family {
  help: string | undefined;
  type: string;
  labels: Set<string>;
}

const UNITS = ['ratio', 'seconds', 'bytes', 'celsius', 'meters', 'volts', 'amperes', 'grams', 'joules', 'metres'];
/** Units that are not base units, with the base unit to use instead. */
const OTHER_UNITS: Readonly<Record<string, string>> = {
  milliseconds: 'seconds',
  microseconds: 'seconds',
  nanoseconds: 'seconds',
  minutes: 'seconds',
  hours: 'seconds',
  days: 'seconds',
  weeks: 'seconds',
  kilobytes: 'bytes',
  megabytes: 'bytes',
  gigabytes: 'bytes',
  bits: 'bytes',
  percent: 'ratio',
  kilometers: 'meters',
  millimeters: 'meters',
};
const ABBREVIATIONS = ['s', 'ms', 'us', 'ns', 'sec', 'b', 'kb', 'mb', 'gb', 'tb', 'm', 'h', 'd'];
const TYPES = ['counter', 'gauge', 'histogram', 'summary'];

/** Returns complaints as `name complaint`, with promtool's wording, without duplicates. */
export function metricComplaints(text: string): string[] {
  const complaints = new Set<string>();
  for (const [name, family] of familiesOf(text))
    for (const complaint of complaintsOf(name, family)) complaints.add(`${name} ${complaint}`);
  return [...complaints].sort();
}

function complaintsOf(name: string, { help, type, labels }: Family): string[] {
  const found: string[] = [];
  const words = name.split('_');
  if (help === undefined || help === '') found.push('no help text');
  if (type === 'counter' && !name.endsWith('_total')) found.push('counter metrics should have "_total" suffix');
  if (type !== 'counter' && name.endsWith('_total')) found.push('non-counter metrics should not have "_total" suffix');
  if (type !== 'histogram') {
    if (name.endsWith('_bucket')) found.push('non-histogram metrics should not have "_bucket" suffix');
    if (labels.has('le')) found.push('non-histogram metrics should not have "le" label');
  }
  if (type !== 'histogram' && type !== 'summary')
    for (const suffix of ['_count', '_sum'])
      if (name.endsWith(suffix)) found.push(`non-histogram and non-summary metrics should not have "${suffix}" suffix`);
  if (type !== 'summary' && labels.has('quantile')) found.push('non-summary metrics should not have "quantile" label');
  if (name.includes(':')) found.push(`metric names should not contain ':'`);
  if (/[a-z][A-Z]/.test(name)) found.push('metric names should be written in snake_case not camelCase');
  for (const label of labels)
    if (/[a-z][A-Z]/.test(label)) found.push('label names should be written in snake_case not camelCase');
  for (const word of words) {
    const base = OTHER_UNITS[word];
    if (base !== undefined) found.push(`use base unit "${base}" instead of "${word}"`);
    if (ABBREVIATIONS.includes(word)) found.push('metric names should not contain abbreviated units');
    if (TYPES.includes(word)) found.push(`metric name should not include type '${word}'`);
  }
  const unit = words.findIndex((word) => UNITS.includes(word));
  if (unit >= 0 && words.slice(unit + 1).some((word) => word !== 'total')) found.push('the unit should be the suffix');
  return found;
}

function familiesOf(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const of = (name: string): Family => {
    const known = families.get(name) ?? { help: undefined, type: 'untyped', labels: new Set<string>() };
    families.set(name, known);
    return known;
  };
  for (const line of text.split('\n')) {
    const [, kind, name, rest] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (kind === 'HELP') of(name!).help = rest;
    if (kind === 'TYPE') of(name!).type = rest!;
    const sample = /^([^\s{#]+)(?:\{(.*)\})? /.exec(line);
    if (sample === null) continue;
    const part = sample[1]!.replace(/_(bucket|sum|count)$/, '');
    const family = families.get(sample[1]!) ?? of(families.get(part)?.type === 'histogram' ? part : sample[1]!);
    for (const [, label] of (sample[2] ?? '').matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) family.labels.add(label!);
  }
  return families;
}
