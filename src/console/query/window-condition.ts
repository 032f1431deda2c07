// Puts a window of time into the text of a statement, as a condition that the user can see and
// change.

import type { TimeWindow } from '../state.ts';
import { bare } from '../statement-words.ts';

/**
 * Returns the statement with its first pattern restricted to the window, or without that
 * restriction. Leaves a statement unchanged that is not a MATCH.
 */
export function withWindow(statement: string, window: TimeWindow | undefined): string {
  return withCondition(
    statement,
    conditionOn,
    (alias) => window && `${alias}.event_ts BETWEEN ${window.start} AND ${window.end}`,
  );
}

/**
 * Returns the statement with a condition on the alias of its first pattern in place of the present
 * one, which `patternOf` finds; without it if `conditionOf` returns undefined.
 */
export function withCondition(
  statement: string,
  patternOf: (alias: string) => RegExp,
  conditionOf: (alias: string) => string | undefined,
): string {
  const text = bare(statement);
  const alias = firstAliasOf(text);
  if (alias === undefined) return statement;
  const present = patternOf(alias).exec(text);
  const condition = conditionOf(alias);
  if (present !== null) {
    const end = present.index + present[0].length;
    if (condition !== undefined) return statement.slice(0, present.index) + condition + statement.slice(end);
    return without(statement, text, present.index, end);
  }
  return condition === undefined ? statement : inserted(statement, text, condition);
}

/**
 * Returns the window to which the first pattern of a statement is restricted; undefined when there
 * is none, or when it is not written in seconds.
 */
export function windowOf(statement: string): TimeWindow | undefined {
  const text = bare(statement);
  const alias = firstAliasOf(text);
  const bounds = alias === undefined ? null : conditionOn(alias).exec(text);
  return bounds === null ? undefined : { start: Number(bounds[1]), end: Number(bounds[2]) };
}

/** `text` is bare: without comments and quoted parts. */
export function firstAliasOf(text: string): string | undefined {
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
  // Without a line end, a trailing line comment would include the closing bracket.
  const body = /\bOR\b/i.test(text.slice(start, end)) ? `(${others}${others.includes('//') ? '\n' : ''})` : others;
  return `${statement.slice(0, start)} ${condition} AND ${body}${breakOf(text, end)}${statement.slice(end)}`;
}

/** Returns a line end if RETURN begins a line, otherwise a blank. */
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
