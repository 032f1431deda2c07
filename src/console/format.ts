// Formats values for the page as plain text: times, numbers, cells.

import type { TimeWindow } from './state.ts';

/**
 * Formats a time as `2000-01-31 23:59:59`, in UTC. If the number is outside the range of dates,
 * returns its digits.
 */
export function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return String(seconds);
  return date.toISOString().slice(0, 19).replace('T', ' ');
}

/** Returns the value of a datetime-local field, which is taken as UTC. */
export function timeField(seconds: number): string {
  return timeText(seconds).replace(' ', 'T');
}

/** Parses a datetime-local field as UTC seconds; undefined if it is empty or incomplete. */
export function secondsOfField(value: string): number | undefined {
  const ms = Date.parse(`${value}Z`);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

export function windowText(window: TimeWindow | undefined): string {
  return window === undefined ? 'all of time' : `${timeText(window.start)} to ${timeText(window.end)} UTC`;
}

const whole = new Intl.NumberFormat('en');

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${whole.format(count)} ${count === 1 ? one : many}`;
}

export function numberText(value: number): string {
  if (Number.isInteger(value)) return whole.format(value);
  return Math.abs(value) >= 1e-4 && Math.abs(value) < 1e9
    ? value.toPrecision(6).replace(/\.?0+$/, '')
    : value.toExponential(4);
}

export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size >= 100 || unit === 0 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

export function secondsText(seconds: number): string {
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} us`;
  if (seconds < 1) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return `${seconds.toPrecision(3)} s`;
}

/** Returns the text of a result's value. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(cellText).join(', ');
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}
