// Times as files have them, to the whole seconds since 1970 of an edge: by the same rules on the command line and in the console.

export const TIME_FORMATS = ['s', 'ms', 'us', 'ns', 'iso', 'dmy', 'mdy'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

export const TIME_TEXTS: Readonly<Record<TimeFormat, string>> = {
  s: 'seconds since 1970',
  ms: 'milliseconds since 1970',
  us: 'microseconds since 1970',
  ns: 'nanoseconds since 1970',
  iso: 'ISO 8601',
  dmy: 'day, month and year, such as 14.03.2024 8:15',
  mdy: 'month, day and year, such as 3/14/2024 8:15',
};

/** A larger number is one of the next smaller unit: as seconds it lies beyond the year 5138, and so on. */
const MOST_SECONDS = 1e11;
const PER_SECOND = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 } as const;
const NUMBER = /^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$/;
/** Day and month, or the other way round. */
const DAY_MONTH = /^(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}\b/;
const DAY_MONTH_TIME =
  /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:(?:,? |T)(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d+)?))?(?: ?([ap])\.?m\.?)?)?$/i;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d?\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** The format of these times, as far as they tell; `name`: of their column. Dates that can all be read in two ways are taken for `iso`, which refuses them. */
export function guessTimeFormat(cells: readonly unknown[], name = ''): TimeFormat {
  const given = cells.filter((cell) => cell !== null && cell !== undefined && cell !== '');
  const numbers = given.filter(isNumber).map(Number);
  // A few of another kind are bad rows.
  if (numbers.length * 2 < given.length || (numbers.length === 0 && given.length > 0)) return orderOf(given) ?? 'iso';
  // The service's own name, and unit: an export with times far in the future is no file of milliseconds.
  if (numbers.length === 0 || name.toLowerCase() === 'event_ts') return 's';
  const least = numbers.reduce((most, number) => Math.min(most, Math.abs(number)), Infinity);
  return (['s', 'ms', 'us'] as const).find((unit) => least <= MOST_SECONDS * PER_SECOND[unit]) ?? 'ns';
}

/** What dates tell of their order: a number above 12 is a day. Undefined: nothing, or one this and another that. */
function orderOf(cells: readonly unknown[]): 'dmy' | 'mdy' | undefined {
  const found = cells.map(dayAndMonth).filter((date) => date !== undefined);
  const isDayFirst = found.some(([first]) => first > 12);
  const isMonthFirst = found.some(([, second]) => second > 12);
  if (isDayFirst === isMonthFirst) return undefined;
  return isDayFirst ? 'dmy' : 'mdy';
}

/** The numbers before the year of a date that has them there. */
export function dayAndMonth(cell: unknown): readonly [number, number] | undefined {
  const parts = typeof cell === 'string' ? DAY_MONTH.exec(cell.trim()) : null;
  return parts === null ? undefined : [Number(parts[1]), Number(parts[2])];
}

function isNumber(cell: unknown): boolean {
  return typeof cell === 'number' || typeof cell === 'bigint' || (typeof cell === 'string' && NUMBER.test(cell.trim()));
}

/** Rounded down; a time without a zone is UTC. NaN for what is no time in this format; one in ISO 8601 is one in all formats of dates. */
export function secondsIn(cell: unknown, format: TimeFormat): number {
  const seconds = cell instanceof Date ? cell.getTime() / 1000 : exactSeconds(cell, format);
  const whole = Math.floor(seconds) + 0;
  return Number.isSafeInteger(whole) ? whole : Number.NaN;
}

function exactSeconds(cell: unknown, format: TimeFormat): number {
  if (format === 'iso') return isoSeconds(String(cell));
  if (format === 'dmy' || format === 'mdy') {
    const text = String(cell).trim();
    return ISO.test(text) ? isoSeconds(text) : dayMonthSeconds(text, format);
  }
  return isNumber(cell) ? Number(cell) / PER_SECOND[format] : Number.NaN;
}

function isoSeconds(text: string): number {
  const parts = ISO.exec(text.trim());
  if (parts === null) return Number.NaN;
  const [, date, time = '00:00', zone = 'Z'] = parts;
  const [year, month, day] = date!.split('-').map(Number);
  // Date takes 30 February for 1 March.
  if (day! > new Date(new Date(0).setUTCFullYear(year!, month!, 0)).getUTCDate()) return Number.NaN;
  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const clock = time[1] === ':' ? `0${time}` : time;
  const whole = clock.length === 5 ? `${clock}:00` : clock.replace(/(\.\d{3})\d+$/, '$1');
  return Date.parse(`${date}T${whole}${offset.toUpperCase()}`) / 1000;
}

/** NaN for a day or an hour that there is not. */
function dayMonthSeconds(text: string, format: 'dmy' | 'mdy'): number {
  const parts = DAY_MONTH_TIME.exec(text);
  if (parts === null) return Number.NaN;
  const [, first, , second, year, hours = '0', minute = '00', rest = '00', half] = parts;
  const [day, month] = format === 'dmy' ? [first!, second!] : [second!, first!];
  const hour = half === undefined ? Number(hours) : hourOf(Number(hours), half.toLowerCase() === 'p');
  const date = `${year}-${twoDigits(month)}-${twoDigits(day)}`;
  return isoSeconds(`${date} ${twoDigits(hour)}:${minute}:${rest}`);
}

/** Of twelve: 12 AM is midnight. */
function hourOf(hour: number, isAfternoon: boolean): number {
  if (hour < 1 || hour > 12) return Number.NaN;
  return (hour % 12) + (isAfternoon ? 12 : 0);
}

function twoDigits(number: string | number): string {
  return String(number).padStart(2, '0');
}
