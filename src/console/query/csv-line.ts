// Formats a row as a line of CSV.

/**
 * Returns a line of CSV (RFC 4180). Lists are joined by spaces. A text that a spreadsheet would
 * take for a formula is preceded by an apostrophe. Null becomes an empty cell, an empty text
 * becomes two quotes.
 */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\r\n`;
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = Array.isArray(value)
    ? value.map(cellOf).join(' ')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return safe === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function cellOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
