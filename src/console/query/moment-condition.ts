// Puts a moment into the text of a statement, as the condition that edges hold then. The user can
// see and change it.

import { secondsOfField } from '../format.ts';
import { bare } from '../statement-words.ts';
import { firstAliasOf, withCondition } from './window-condition.ts';

/**
 * Returns the statement with its first pattern restricted to edges that hold at a moment (epoch
 * seconds), or without that restriction. Leaves a statement unchanged that is not a MATCH.
 */
export function withMoment(statement: string, moment: number | undefined): string {
  return withCondition(statement, conditionOn, (alias) =>
    moment === undefined ? undefined : `holds(${alias}, ${moment})`,
  );
}

/**
 * Returns the moment at which the edges of a statement's first pattern hold; undefined when there
 * is none, or when it is not written as a time.
 */
export function momentOf(statement: string): number | undefined {
  const text = bare(statement);
  const alias = firstAliasOf(text);
  const found = alias === undefined ? null : conditionOn(alias).exec(text);
  if (found === null) return undefined;
  const time = found[1]!;
  if (!time.startsWith('_')) return Number(time);
  // Quoted parts are blanked out in the bare text.
  const start = found.index + found[0].lastIndexOf(time);
  const quoted = statement.slice(start + 1, start + time.length - 1).trim();
  return secondsOfField(quoted.length === 10 ? `${quoted}T00:00` : quoted.replace(' ', 'T').replace(/Z$/, ''));
}

/** Matches a number or a quoted text, not a parameter or a column, and no condition after NOT. */
function conditionOn(alias: string): RegExp {
  return new RegExp(`(?<!\\bNOT\\s+)\\bholds\\s*\\(\\s*${alias}\\s*,\\s*(-?\\d+|_+)\\s*\\)`, 'i');
}
