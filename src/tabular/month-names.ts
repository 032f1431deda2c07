// Reads dates that write the month as a word in one of the languages below. The words are taken
// from the JavaScript engine's own locale data (Intl).

const LANGUAGES = [
  ...[
    'en-US',
    'en-GB',
    'de',
    'de-AT',
    'fr',
    'es',
    'it',
    'pt',
    'nl',
    'pl',
    'tr',
    'sv',
    'da',
    'nb',
    'fi',
    'cs',
    'ru',
    'uk',
  ],
];
/** In this year, 1 January is a Monday. */
const YEAR = 2024;

const WORD = String.raw`\p{L}[\p{L}\p{M}]*\.?`;
const CLOCK = String.raw`(\d{1,2})[:.h](\d\d)(?:[:.](\d\d(?:[.,]\d+)?))?(?: ?([ap])\.?m\.?)?(?: ?(?:uhr|h))?(?: ?(z|utc|gmt|[+-]\d\d:?\d\d))?`;
const AT = String.raw`(?:(?:,? |:|, ?|t)(?:(?:at|um|à|a|alle|om|kl\.?|às|a las|saat|klo) )?${CLOCK})?`;
const DAY_MONTH = new RegExp(
  String.raw`^(?:(${WORD}),? )?(\d{1,2})(?:\.|st|nd|rd|th|er|º)?[ /-]?(?:de |of )?(${WORD})[ ,/-]{1,2}(?:de |del )?(\d{4})(?: г\.?| р\.?)?${AT}$`,
  'u',
);
const MONTH_DAY = new RegExp(String.raw`^(?:(${WORD}),? )?(${WORD}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})${AT}$`, 'u');
/** The form that the Unix tools `date` and `ctime` write. */
const UNIX = new RegExp(String.raw`^(${WORD}) (${WORD}) (\d{1,2}) ${CLOCK} (\d{4})$`, 'u');

interface DateWords {
  /** The months by name, 1 to 12. In these languages, each name means only one month. */
  readonly months: ReadonlyMap<string, number>;
  readonly weekdays: ReadonlySet<string>;
}

const CLOCK_PARTS = ['hour', 'minute', 'second', 'half', 'zone'];
/** The forms of dates, with the meaning of the groups in each pattern. */
const FORMS: readonly (readonly [form: RegExp, order: readonly string[]])[] = [
  [DAY_MONTH, ['weekday', 'day', 'month', 'year', ...CLOCK_PARTS]],
  [MONTH_DAY, ['weekday', 'month', 'day', 'year', ...CLOCK_PARTS]],
  [UNIX, ['weekday', 'month', 'day', ...CLOCK_PARTS, 'year']],
];

let words: DateWords | undefined;

/** Returns 1 to 12, or undefined if the word is not a month. */
export function monthOf(word: string): number | undefined {
  words ??= wordsOfDates();
  return words.months.get(folded(word));
}

export function isWeekday(word: string): boolean {
  words ??= wordsOfDates();
  return words.weekdays.has(folded(word));
}

/**
 * Rewrites a date: `14. März 2024 8:15` -> `2024-03-14 08:15:00Z`. Returns undefined if the text
 * has another form. Does not check the ranges of days and hours.
 */
export function withMonthAsNumber(text: string): string | undefined {
  const plain = text.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  for (const [form, order] of FORMS) {
    const found = form.exec(plain);
    const written = found === null ? undefined : writtenDate(found.slice(1), order);
    if (written !== undefined) return written;
  }
  return undefined;
}

function writtenDate(parts: readonly (string | undefined)[], order: readonly string[]): string | undefined {
  const said = (part: string) => parts[order.indexOf(part)];
  const month = monthOf(said('month')!);
  const weekday = said('weekday');
  if (month === undefined || (weekday !== undefined && !isWeekday(weekday))) return undefined;
  const hour = Number(said('hour') ?? 0);
  const half = said('half');
  const hours = half === undefined ? hour : hourOf(hour, half === 'p');
  const second = (said('second') ?? '00').replace(',', '.');
  const zone = said('zone') ?? 'Z';
  const clock = `${twoDigits(hours)}:${said('minute') ?? '00'}:${second}${/^[+-]/.test(zone) ? zone : 'Z'}`;
  return `${said('year')}-${twoDigits(month)}-${twoDigits(said('day')!)} ${clock}`;
}

/**
 * Converts an hour of the 12-hour clock; 12 AM is midnight. Returns NaN if the hour is not from 1
 * to 12.
 */
export function hourOf(hour: number, isAfternoon: boolean): number {
  if (hour < 1 || hour > 12) return Number.NaN;
  return (hour % 12) + (isAfternoon ? 12 : 0);
}

export function twoDigits(number: string | number): string {
  return String(number).padStart(2, '0');
}

/** Returns the word in lower case, without accents and without a dot at the end. */
function folded(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}|\.$/gu, '');
}

function wordsOfDates(): DateWords {
  const months = new Map<string, number>();
  const weekdays = new Set<string>();
  for (const language of LANGUAGES) {
    for (const style of ['long', 'short'] as const) {
      const alone = new Intl.DateTimeFormat(language, { month: style, timeZone: 'UTC' });
      // Slavic languages put the month in another grammatical case if there is a day beside it.
      const beside = new Intl.DateTimeFormat(language, { day: 'numeric', month: style, timeZone: 'UTC' });
      const weekday = new Intl.DateTimeFormat(language, { weekday: style, timeZone: 'UTC' });
      for (let month = 1; month <= 12; month++) {
        const date = Date.UTC(YEAR, month - 1, 15);
        const names = beside.formatToParts(date).filter(({ type }) => type === 'month');
        for (const name of [alone.format(date), ...names.map(({ value }) => value)])
          if (!/^\d/.test(name)) months.set(folded(name), month);
      }
      for (let day = 1; day <= 7; day++) weekdays.add(folded(weekday.format(Date.UTC(YEAR, 0, day))));
    }
  }
  return { months, weekdays };
}
