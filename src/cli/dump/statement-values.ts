// Writes names and values as they appear in statements.

import type { ColumnType, PropertyValue } from '../../engine/index.ts';
import { kindOfType } from '../../model/column-types.ts';

/** Quotes a name with backquotes, so that a keyword of the language can be a name too. */
export function nameText(name: string): string {
  return `\`${name}\``;
}

/** Returns a literal that is read back as the same value. */
export function valueText(value: PropertyValue, type: ColumnType): string {
  switch (typeof value) {
    case 'string':
      return textLiteral(value);
    case 'number':
      return kindOfType(type) === 'real' ? realText(value) : String(value);
    default:
      return String(value);
  }
}

/**
 * Returns a member of an edge: a number or a key, or a key with its kind in tables with several
 * kinds.
 */
export function memberText(member: unknown): string {
  if (typeof member === 'number') return String(member);
  if (typeof member === 'string') return textLiteral(member);
  const { kind, key } = member as { readonly kind: string; readonly key: string | number };
  return `node(${nameText(kind)}, ${memberText(key)})`;
}

/**
 * Writes a point or an exponent into every number. Without them a number is an integer literal, and
 * these end at 2^53.
 */
function realText(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '\n': '\\n', '\r': '\\r', '\t': '\\t' };
/**
 * Characters to escape: those in `ESCAPES`, and characters that have a special meaning for editors,
 * terminals or programs that read lines.
 */
const ESCAPED = /[\\'\p{Cc}\p{Cf}\u2028\u2029\ufeff]/gu;

function textLiteral(text: string): string {
  // A text of the exact form $name would be read as a parameter.
  if (/^\$[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return `'$' + '${text.slice(1)}'`;
  return `'${text.replace(ESCAPED, escapeOf)}'`;
}

function escapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return ESCAPES[character] ?? units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
