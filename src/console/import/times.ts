// Times as files have them, to the whole seconds of an edge: ISO 8601, numbers since 1970, or days and months in an order that is told.

/** Which of 04.03.2024 is the day; undefined: such dates are refused. */
export type DayOrder = 'day first' | 'month first' | undefined;

type Unit = keyof typeof PER_SECOND;

export interface TimeReading {
  /** Of numbers; undefined: most of the column are no numbers, so those that are one are no times. */
  readonly unit: Unit | undefined;
  readonly order: DayOrder;
}

/** A larger number is one of the next smaller unit: as seconds it lies beyond the year 5138, and so on. */
const MOST_SECONDS = 1e11;
const PER_SECOND = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 } as const;
const NUMBER = /^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$/;
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;
const TWO_WAYS =
  /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d\d)(?:,?[T ]\s*(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:\s*([AP])\.?M\.?)?)?$/i;

const isGiven = (cell: unknown) => cell !== null && cell !== undefined && cell !== '';
const textOf = (cell: unknown) => String(cell ?? '').trim();

/** What all cells of the column tell of its numbers. */
export function unitOf(cells: readonly unknown[]): Unit | undefined {
  const given = cells.filter(isGiven);
  const numbers = given.map(textOf).filter((text) => NUMBER.test(text));
  // A few of another kind are bad rows.
  if (numbers.length * 2 < given.length || numbers.length === 0) return undefined;
  const least = numbers.reduce((most, text) => Math.min(most, Math.abs(Number(text))), Infinity);
  return (['s', 'ms', 'us'] as const).find((unit) => least <= MOST_SECONDS * PER_SECOND[unit]) ?? 'ns';
}

/** Some cells have a day and a month that can be read in two ways. */
export function needsOrder(cells: readonly unknown[]): boolean {
  return cells.some((cell) => TWO_WAYS.test(textOf(cell)));
}

/** The order that the cells themselves tell: a number above 12 is a day, and with points the day comes first. */
export function guessOrder(cells: readonly unknown[]): DayOrder {
  const found = cells.map((cell) => TWO_WAYS.exec(textOf(cell))).filter((match) => match !== null);
  if (found.length === 0) return undefined;
  const isDayFirst = found.some(([, first]) => Number(first) > 12);
  const isMonthFirst = found.some(([, , , second]) => Number(second) > 12);
  if (isDayFirst !== isMonthFirst) return isDayFirst ? 'day first' : 'month first';
  return !isDayFirst && found.every(([, , mark]) => mark === '.') ? 'day first' : undefined;
}

/** Rounded down; a time without a zone is UTC. Throws an Error that says what is wrong, as the end of a sentence on the row. */
export function secondsOf(cell: unknown, { unit, order }: TimeReading): number {
  const text = textOf(cell);
  if (text === '') throw new Error('has no time');
  const shown = `"${text.slice(0, 40)}"`;
  const twoWays = TWO_WAYS.exec(text);
  if (twoWays !== null && order === undefined)
    throw new Error(`says ${shown}, whose day and month can be read in two ways; choose their order beside the time`);
  const isNumber = unit !== undefined && NUMBER.test(text);
  const seconds = isNumber
    ? Number(text) / PER_SECOND[unit]
    : twoWays === null
      ? isoSeconds(text)
      : orderedSeconds(twoWays, order === 'day first');
  const whole = Math.floor(seconds) + 0;
  if (Number.isSafeInteger(whole)) return whole;
  if (twoWays !== null) throw new Error(`says ${shown}, which is no time of the calendar with the ${order}`);
  throw new Error(`says ${shown} where a time should stand; write it in ISO 8601, as 2024-05-13 10:00:00`);
}

function isoSeconds(text: string): number {
  const parts = ISO.exec(text);
  if (parts === null) return Number.NaN;
  const [, year, month, day, time = '00:00', zone = 'Z'] = parts;
  if (!isDay(Number(year), Number(month), Number(day))) return Number.NaN;
  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const whole = time.length === 5 ? `${time}:00` : time.replace(/(\.\d{3})\d+$/, '$1');
  return Date.parse(`${year}-${month}-${day}T${whole}${offset.toUpperCase()}`) / 1000;
}

function orderedSeconds(parts: RegExpExecArray, isDayFirst: boolean): number {
  const [first, second, year] = [Number(parts[1]), Number(parts[3]), Number(parts[4])];
  const [day, month] = isDayFirst ? [first, second] : [second, first];
  const [hour, minute, second60] = [parts[5], parts[6], parts[7]].map((part) => Number(part ?? 0));
  const half = parts[8]?.toUpperCase();
  // A year of two digits may be of any century.
  if (parts[4]!.length < 4 || !isDay(year, month, day) || minute! > 59 || second60! > 59) return Number.NaN;
  if (half === undefined ? hour! > 23 : hour! < 1 || hour! > 12) return Number.NaN;
  const hours = half === undefined ? hour! : (hour! % 12) + (half === 'P' ? 12 : 0);
  return new Date(0).setUTCFullYear(year, month - 1, day) / 1000 + hours * 3600 + minute! * 60 + second60!;
}

/** Date takes 30 February for 1 March. */
function isDay(year: number, month: number, day: number): boolean {
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  return month >= 1 && month <= 12 && day >= 1 && day <= last.getUTCDate();
}
