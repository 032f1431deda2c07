// Names and values as statements write them.

import type { ColumnType, PropertyValue } from '../../engine/index.ts';
import { kindOfType } from '../../model/column-types.ts';

/** In backquotes, where a word of the language is a name too. */
export function nameText(name: string): string {
  return `\`${name}\``;
}

/** Read again it is the same value. */
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

/** With a point or an exponent: integers end at 2^53. */
function realText(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '\n': '\\n', '\r': '\\r', '\t': '\\t' };
/**
 * Besides those: what editors, terminals and programs that read lines take for something of their
 * own.
 */
const ESCAPED = /[\\'\p{Cc}\p{Cf}\u2028\u2029\ufeff]/gu;

function textLiteral(text: string): string {
  // A text that is exactly $name would be that parameter.
  if (/^\$[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return `'$' + '${text.slice(1)}'`;
  return `'${text.replace(ESCAPED, escapeOf)}'`;
}

function escapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return ESCAPES[character] ?? units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
