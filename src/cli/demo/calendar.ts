// The days of the demo: it begins on a Monday, and all its times are in UTC.

export const DAY_SECONDS = 86_400;
export const HOUR_SECONDS = 3600;
export const YEAR_SECONDS = 365.25 * DAY_SECONDS;
/** Monday 2024-03-04, 00:00 UTC. */
export const FIRST_DAY_TS = 1_709_510_400;
/** 2014-01-01: the first tenancies begin after this time. */
export const HISTORY_TS = 1_388_534_400;

/** Returns the date of a time, such as `2024-03-04`. */
export function dateOf(ts: number): string {
  return new Date(ts * 1000).toISOString().slice(0, 10);
}

/** Returns the beginning of the day of a time. */
export function dayOf(ts: number): number {
  return ts - (((ts % DAY_SECONDS) + DAY_SECONDS) % DAY_SECONDS);
}
