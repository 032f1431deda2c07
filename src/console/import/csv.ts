// Reads CSV (RFC 4180) of a small file: rows of fields, quotes resolved.

/** The separator that stands most often in the first line. */
export function separatorOf(text: string): string {
  const line = text.slice(0, Math.max(0, text.indexOf('\n'))) || text;
  const counted = [',', ';', '\t', '|'].map((mark) => ({ mark, count: line.split(mark).length }));
  return counted.reduce((best, item) => (item.count > best.count ? item : best)).mark;
}

/** Empty lines are left out. */
export function csvRows(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at, separator);
    row.push(field.value);
    at = field.end;
    if (text[at] === separator) {
      at += 1;
      if (at >= text.length || text[at] === '\n' || text[at] === '\r') row.push('');
      else continue;
    }
    if (text[at] === '\r') at += 1;
    if (text[at] === '\n') at += 1;
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  return rows;
}

interface Field {
  readonly value: string;
  readonly end: number;
}

function plainField(text: string, start: number, separator: string): Field {
  let end = start;
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return { value: text.slice(start, end), end };
}

function quotedField(text: string, start: number): Field {
  let value = '';
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { value: value + text.slice(at), end: text.length };
    value += text.slice(at, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    at = quote + 2;
  }
}
