// Numbers as people write them: a decimal comma or point, and marks between thousands.
//
// `1,250` is 1250 in one file and 1.25 in another. A file is taken to write numbers in one way,
// which shows in cells that can be read in that way only: 12,5 and 1.234,50 have a decimal comma,
// 1,234.50 and 12,345,678 a decimal point. Where nothing shows, such cells are texts, and a warning
// names the flag.

export type Decimal = ',' | '.';

/**
 * Marks between thousands besides the other one of comma and point: apostrophes, spaces (plain,
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
 * The same number as programs write it, or the text itself where it holds no marks. Undefined: it
 * is no number of this style, but maybe one of the other.
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

/** Cells of one column, those that hold nothing left out. */
export type NumberColumn = readonly string[];

/**
 * What the columns of a file show. Undefined: nothing, or both. `isList`: commas may as well part
 * the items of lists.
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
 * A cell that shows that the column holds numbers which cannot be read without knowing the style;
 * undefined: it does not.
 */
export function ambiguousNumber(cells: NumberColumn): string | undefined {
  const areNumbers = cells.every(
    (cell) => STYLES[','].form.test(cell) || STYLES['.'].form.test(cell) || PLAIN.test(cell),
  );
  return areNumbers ? cells.find((cell) => MARKED.test(cell) && !PLAIN.test(cell)) : undefined;
}
