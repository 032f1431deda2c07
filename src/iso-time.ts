// Converts ISO 8601 times to seconds since 1970 and back, for every second that an edge can have.
//
// Days are counted in the proleptic Gregorian calendar with the algorithms of Howard Hinnant,
// "chrono-compatible low-level date algorithms" (2013), because Date ends in the year 275,760. The
// trick is to let years begin on 1 March, so that the leap day is the last day of a year. Years are
// grouped into eras of 400 years = 146,097 days, after which the calendar repeats.
// - The first day of month m (0 = March) of such a year is day (153 m + 2) / 5, rounded down: the
//   months from March have 31, 30, 31, 30, 31 days, then the pattern of 153 days repeats.
// - The year of a day in an era is (day - day/1460 + day/36524 - day/146096) / 365: the leap days
//   before it are taken out first (every 4 years, not every 100, but every 400).
//
// 1970-01-01 is 719,468 days after 0000-03-01. Example: 2000-03-01 is the first day of era 5, so it
// is 5 * 146,097 - 719,468 = 11,017 days after 1970-01-01.

const DAY = 86_400;
/** Maximum length of a time; longer texts are refused without matching. */
const LONGEST = 64;
const FORM =
  /^(\d{4}|[+-]\d{6,9})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?)?$/;
const NUMBER = /^[+-]?\d+(\.\d+)?$/;
/** Matches a zone whose + was sent unescaped in a URL and was therefore decoded to a space. */
const BLANK_ZONE = /:\d\d(\.\d+)? \d\d(:?\d\d)?$/;

const EXAMPLES = '2024-05-02, 2024-05-02T10:00:00Z or 2024-05-02T10:00:00+02:00';
/** The accepted forms of a time, for messages. */
export const TIME_FORM = `epoch seconds, or a time in ISO 8601 such as ${EXAMPLES} (UTC without a zone)`;
/** Message for a field that takes a time but contains something else. */
export const TIME_MESSAGE = `must be an integer of at most 2^53-1 (epoch seconds), or a time in ISO 8601 such as ${EXAMPLES}`;

/**
 * Returns the seconds since 1970 of a time, or of the first second of a date. A time without a zone
 * is in UTC. Fractions of a second are truncated, as in an import, and 24:00 is the end of the day.
 * Returns undefined if the text is not a time, names a day or hour that does not exist, or gives a
 * number beyond the safe integers. POSIX time has no leap seconds, so `:60` is refused.
 */
export function isoSeconds(text: string): number | undefined {
  if (text.length > LONGEST) return undefined;
  const parts = FORM.exec(text);
  if (parts === null || parts[1] === '-000000') return undefined;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return undefined;
  const clock = secondsOfDay(
    Number(parts[4] ?? 0),
    Number(parts[5] ?? 0),
    Number(parts[6] ?? 0),
    Number(parts[7] ?? 0),
  );
  const offset = offsetOf(parts[9], Number(parts[10] ?? 0), Number(parts[11] ?? 0));
  if (clock === undefined || offset === undefined) return undefined;
  const seconds = daysSince1970(year, month, day) * DAY + clock - offset;
  return Number.isSafeInteger(seconds) ? seconds + 0 : undefined;
}

/**
 * Returns the days since 1970 of a date without a time, or undefined if the text is not such a
 * date.
 */
export function isoDays(text: string): number | undefined {
  const seconds = text.includes(':') ? undefined : isoSeconds(text);
  return seconds === undefined ? undefined : seconds / DAY;
}

/** Returns what is wrong with a text that is not a time, as the end of a sentence. */
export function timeProblem(text: string): string {
  if (NUMBER.test(text)) return 'is a number in quotes; write it without them, or a time in ISO 8601';
  if (text.length <= LONGEST && FORM.test(text)) return 'names a day or an hour that does not exist';
  if (text.length <= LONGEST && BLANK_ZONE.test(text))
    return 'has a blank for the + of its zone; in an address write %2B';
  return `is not a time in ISO 8601 such as ${EXAMPLES}`;
}

/**
 * Formats seconds since 1970 as `2024-05-02T10:00:00Z`, with milliseconds if `seconds` has a
 * fraction. Years outside 0 to 9999 get a sign and at least six digits.
 */
export function isoTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const day = Math.floor(whole / DAY);
  const rest = whole - day * DAY;
  const ms = Math.floor((seconds - whole) * 1000);
  const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  return `${isoDay(day)}T${clock}${ms === 0 ? '' : `.${String(ms).padStart(3, '0')}`}Z`;
}

/** Formats days since 1970 as `2024-05-02`. */
export function isoDay(days: number): string {
  // Count from 1 March of the year 0, in eras of 400 years.
  const from = days + DAYS_TO_1970;
  const era = Math.floor(from / DAYS_OF_ERA);
  const inEra = from - era * DAYS_OF_ERA;
  const yearOfEra = Math.floor(
    (inEra - Math.floor(inEra / 1460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)) / 365,
  );
  const inYear = inEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * inYear + 2) / 153);
  const day = inYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${yearText(year)}-${two(month)}-${two(day)}`;
}

const DAYS_TO_1970 = 719_468;
const DAYS_OF_ERA = 146_097;

function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const fromMarch = month > 2 ? month - 3 : month + 9;
  const inYear = Math.floor((153 * fromMarch + 2) / 5) + day - 1;
  const inEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + inYear;
  return era * DAYS_OF_ERA + inEra - DAYS_TO_1970;
}

function daysOfMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function secondsOfDay(hour: number, minute: number, second: number, fraction: number): number | undefined {
  if (minute > 59 || second > 59 || hour > 24) return undefined;
  if (hour === 24 && (minute > 0 || second > 0 || fraction > 0)) return undefined;
  return hour * 3600 + minute * 60 + second;
}

function offsetOf(sign: string | undefined, hours: number, minutes: number): number | undefined {
  if (hours > 23 || minutes > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, '0');
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}
