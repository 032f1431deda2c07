// Converts between texts and seconds since 1970, always in UTC.

/** First and last second of the years 1 to 9999, which every database writes in the same way. */
export const FIRST_SECOND = -62_135_596_800;
export const LAST_SECOND = 253_402_300_799;
const DAY_MS = 86_400_000;
/** Latest and, negated, earliest time of a `Date`, in the years 275,760 and -271,821. */
const MAX_DATE_MS = 8.64e15;

export interface Instant {
  /** Whole seconds since 1970. */
  readonly second: number;
  /** 0 to 999,999. */
  readonly micros: number;
}

const FORM = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?:(:\d\d)(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * Parses an ISO 8601 date or time. A time without a zone is UTC. Returns undefined if the text is
 * invalid, names a day that does not exist, or is outside the years 1 to 9999.
 */
export function instantOf(text: string): Instant | undefined {
  const found = FORM.exec(text);
  if (found === null || text.startsWith('0000')) return undefined;
  const [, day, minute = '00:00', second = ':00', fraction = '', zone = 'Z'] = found;
  const ms = Date.parse(`${day}T${minute}${second}Z`);
  // Date.parse may accept 2024-02-31 as the 2nd of March.
  if (!Number.isFinite(ms) || new Date(ms).toISOString().slice(0, 10) !== day) return undefined;
  const offset = zoneSeconds(zone);
  if (offset === undefined) return undefined;
  const at = ms / 1000 - offset;
  if (at < FIRST_SECOND || at > LAST_SECOND) return undefined;
  return { second: at, micros: Number(fraction.padEnd(6, '0')) };
}

function zoneSeconds(zone: string): number | undefined {
  if (zone === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 15 || minutes > 59) return undefined;
  return (zone[0] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** Formats a second of the years 1 to 9999 for SQL: `2024-05-31 14:00:00`. */
export function isoTimestamp(second: number, hasZone: boolean, micros = 0): string {
  const text = new Date(second * 1000).toISOString();
  const fraction = micros === 0 ? '' : `.${String(micros).padStart(6, '0')}`;
  return `${text.slice(0, 10)} ${text.slice(11, 19)}${fraction}${hasZone ? '+00' : ''}`;
}

/**
 * Formats days since 1970 as `2024-05-31`. A year outside 0 to 9999 gets a sign and six digits:
 * `+012024-05-31`. Days that no `Date` can hold are returned as the number itself.
 */
export function isoDate(day: number): string {
  const ms = day * DAY_MS;
  if (Math.abs(ms) > MAX_DATE_MS) return String(day);
  return new Date(ms).toISOString().replace(/T.*/, '');
}

/** Formats microseconds since 1970 as `2024-05-31T14:00:00Z`, with a fraction unless it is zero. */
export function isoOfMicros(micros: number | bigint): string {
  const number = Number(micros);
  if (Number.isSafeInteger(number)) {
    const part = ((number % MICROS) + MICROS) % MICROS;
    return isoOfParts((number - part) / MICROS, part);
  }
  const part = ((BigInt(micros) % WIDE_MICROS) + WIDE_MICROS) % WIDE_MICROS;
  const second = Number((BigInt(micros) - part) / WIDE_MICROS);
  return Math.abs(second * 1000) > MAX_DATE_MS ? String(micros) : isoOfParts(second, Number(part));
}

const MICROS = 1_000_000;
const WIDE_MICROS = 1_000_000n;

function isoOfParts(second: number, micros: number): string {
  const text = new Date(second * 1000).toISOString();
  const whole = text.slice(0, text.length - '.000Z'.length);
  return micros === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, '0').replace(/0+$/, '')}Z`;
}
