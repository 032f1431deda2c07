// Puts a window of time into a statement, where it can be seen and changed: the brush writes what a
// person would.

import type { TimeWindow } from '../state.ts';
import { bare } from '../statement-words.ts';

/**
 * The statement with its first pattern held to the window, or let out of it; a statement that is no
 * MATCH stays as it is.
 */
export function withWindow(statement: string, window: TimeWindow | undefined): string {
  const text = bare(statement);
  const alias = firstAliasOf(text);
  if (alias === undefined) return statement;
  const present = conditionOn(alias).exec(text);
  const condition = window === undefined ? undefined : `${alias}.event_ts BETWEEN ${window.start} AND ${window.end}`;
  if (present !== null) {
    const end = present.index + present[0].length;
    if (condition !== undefined) return statement.slice(0, present.index) + condition + statement.slice(end);
    return without(statement, text, present.index, end);
  }
  return condition === undefined ? statement : inserted(statement, text, condition);
}

/**
 * The window that the first pattern of a statement is held to; undefined when there is none, or
 * none written in seconds.
 */
export function windowOf(statement: string): TimeWindow | undefined {
  const text = bare(statement);
  const alias = firstAliasOf(text);
  const bounds = alias === undefined ? null : conditionOn(alias).exec(text);
  return bounds === null ? undefined : { start: Number(bounds[1]), end: Number(bounds[2]) };
}

function firstAliasOf(text: string): string | undefined {
  return /\bMATCH\s+(?:HYPEREDGE\s*)?\(\s*(\w+)\s*:/i.exec(text)?.[1];
}

function conditionOn(alias: string): RegExp {
  return new RegExp(`\\b${alias}\\s*\\.\\s*event_ts\\s+BETWEEN\\s+(-?\\d+)\\s+AND\\s+(-?\\d+)`, 'i');
}

function inserted(statement: string, text: string, condition: string): string {
  const end = /\bRETURN\b/i.exec(text)?.index;
  if (end === undefined) return statement;
  const where = /\bWHERE\b/i.exec(text.slice(0, end))?.index;
  if (where === undefined)
    return `${statement.slice(0, end)}WHERE ${condition}${breakOf(text, end)}${statement.slice(end)}`;
  const start = where + 'WHERE'.length;
  const others = statement.slice(start, end).trim();
  // A comment to the end of the line would swallow a bracket written after it.
  const body = /\bOR\b/i.test(text.slice(start, end)) ? `(${others}${others.includes('//') ? '\n' : ''})` : others;
  return `${statement.slice(0, start)} ${condition} AND ${body}${breakOf(text, end)}${statement.slice(end)}`;
}

/** RETURN stays on a line of its own when it was on one. */
function breakOf(text: string, end: number): string {
  return /\n\s*$/.test(text.slice(0, end)) ? '\n' : ' ';
}

function without(statement: string, text: string, start: number, end: number): string {
  const behind = /^\s+AND\s+/i.exec(text.slice(end));
  if (behind !== null) return statement.slice(0, start) + statement.slice(end + behind[0].length);
  const before = /\s+AND\s+$/i.exec(text.slice(0, start));
  if (before !== null) return statement.slice(0, before.index) + statement.slice(end);
  const where = /\bWHERE\s+$/i.exec(text.slice(0, start));
  if (where === null) return statement;
  return statement.slice(0, where.index) + statement.slice(end).replace(/^\s+/, '');
}
