// Reads numbers as people write them: with a decimal comma or point, and with marks between
// thousands.
//
// `1,250` is 1250 in one file and 1.25 in another. Each file is assumed to use one style, which is
// found from cells that can be read in only one way. For example, 12,5 and 1.234,50 have a decimal
// comma; 1,234.50 and 12,345,678 have a decimal point. If no cell decides this, ambiguous cells are
// kept as texts, and a warning names the flag to set.

export type Decimal = ',' | '.';

/**
 * Marks between thousands in addition to the comma or point: apostrophes and spaces (plain,
 * no-break, narrow no-break, thin).
 */
const OTHER_MARKS = String.raw`'’ \u00a0\u202f\u2009`;

const STYLES: Readonly<Record<Decimal, { readonly form: RegExp; readonly certain: RegExp }>> = {
  ',': {
    form: new RegExp(String.raw`^[+-]?(?:\d{1,3}([.${OTHER_MARKS}])\d{3}(?:\1\d{3})*|\d+)?(?:,\d+)?$`),
    certain: new RegExp(
      String.raw`^[+-]?(?:0,\d+|\d*,(?:\d{1,2}|\d{4,})|\d{1,3}(?:[.${OTHER_MARKS}]\d{3})+,\d+|\d{4,},\d+)$`,
    ),
  },
  '.': {
    form: new RegExp(String.raw`^[+-]?(?:\d{1,3}([,${OTHER_MARKS}])\d{3}(?:\1\d{3})*|\d+)?(?:\.\d+)?$`),
    certain: new RegExp(
      String.raw`^[+-]?(?:0\.\d+|\d*\.(?:\d{1,2}|\d{4,})|\d{1,3}(?:[,${OTHER_MARKS}]\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}|\d{4,}\.\d+)$`,
    ),
  },
};
const MARKED = new RegExp(String.raw`\d[,.${OTHER_MARKS}]\d`);
const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Returns the number as programs write it, or the text itself if it contains no marks. Returns
 * undefined if the text is not a number in this style; it may be one in the other style.
 */
export function plainNumber(text: string, decimal: Decimal): string | undefined {
  const trimmed = text.trim();
  if (!MARKED.test(trimmed) && !/^[+-]?,/.test(trimmed)) return text;
  if (decimal === '.' && PLAIN.test(trimmed)) return text;
  if (!STYLES[decimal].form.test(trimmed)) return undefined;
  const at = trimmed.lastIndexOf(decimal);
  const whole = (at < 0 ? trimmed : trimmed.slice(0, at)).replaceAll(/[^\d+-]/g, '');
  return at < 0
    ? whole
    : `${whole === '' || whole === '-' || whole === '+' ? `${whole}0` : whole}.${trimmed.slice(at + 1)}`;
}

/** The cells of one column, without empty cells. */
export type NumberColumn = readonly string[];

/**
 * Returns the decimal mark that the columns of a file show, or undefined if they show none or both.
 * If `isList` is true, commas may also separate the items of lists.
 */
export function decimalOf(columns: readonly NumberColumn[], isList: boolean): Decimal | undefined {
  const shows = (decimal: Decimal) => {
    const { form, certain } = STYLES[decimal];
    return columns.some(
      (cells) =>
        cells.every((cell) => form.test(cell) || (PLAIN.test(cell) && (decimal === '.' || !cell.includes('.')))) &&
        cells.some((cell) => certain.test(cell) && (!isList || decimal === '.' || /[^\d+,-]/.test(cell))),
    );
  };
  const hasComma = shows(',');
  return hasComma === shows('.') ? undefined : hasComma ? ',' : '.';
}

/**
 * Returns a cell that cannot be read without knowing the style, if the column contains only
 * numbers. Otherwise returns undefined.
 */
export function ambiguousNumber(cells: NumberColumn): string | undefined {
  const areNumbers = cells.every(
    (cell) => STYLES[','].form.test(cell) || STYLES['.'].form.test(cell) || PLAIN.test(cell),
  );
  return areNumbers ? cells.find((cell) => MARKED.test(cell) && !PLAIN.test(cell)) : undefined;
}
