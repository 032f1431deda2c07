// Texts as parts of XML 1.0 documents.

import { wellFormed } from '../../model/text.ts';

const SPECIAL = /[&<>"\p{Cc}\ufffe\uffff]/gu;
const REPLACEMENT = '\ufffd';
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Returns the text as the content of an element or as the value of an attribute in double quotes. A
 * parser reads the same text from both: tabs, newlines and carriage returns are written as
 * character references, because parsers turn the characters themselves into blanks or newlines.
 * Characters that XML 1.0 forbids even as references are replaced by U+FFFD: U+0000 to U+001F
 * except those three, lone surrogates, U+FFFE and U+FFFF (XML 1.0, section 2.2, production Char).
 */
export function xmlText(text: string): string {
  return wellFormed(text).replace(SPECIAL, escaped);
}

function escaped(character: string): string {
  const entity = ENTITIES[character];
  if (entity !== undefined) return entity;
  if (character === '\t' || character === '\n' || character === '\r') return `&#${character.charCodeAt(0)};`;
  // Control characters from U+007F on are allowed.
  return character < ' ' || character > '\ufffd' ? REPLACEMENT : character;
}

/** Characters that a name token must not contain (XML 1.0, section 2.3, production NameChar). */
const NOT_OF_NAME =
  /[^:A-Z_a-z\-.0-9\u00b7\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u037d\u037f-\u1fff\u200c-\u200d\u203f-\u2040\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\u{10000}-\u{effff}]/gu;

/** Returns the text as a name token (NMTOKEN): every other character is replaced by `_`. */
export function nameToken(text: string): string {
  return wellFormed(text).replace(NOT_OF_NAME, '_') || '_';
}

/** The beginning of what could be read as an escape. */
const LOOKS_ESCAPED = /_(?=x)/g;
/** Characters that XML 1.0 cannot hold. */
const FORBIDDEN = /[\p{Cc}\ufffe\uffff]/gu;

/**
 * Returns an id as the value of an attribute. Unlike `xmlText` it gives different texts for
 * different ids: characters that XML forbids are written as `_xFFFE_`, by their code, and a `_`
 * before an `x` as `_x5F_`.
 */
export function idText(id: string): string {
  return xmlText(escapedId(id, FORBIDDEN));
}

/**
 * Returns an id as a name token (NMTOKEN), which ids of GraphML must be, also different for
 * different ids: every character that a name token cannot have is written as an escape, such as
 * `_x20_` for a blank.
 */
export function tokenId(id: string): string {
  return escapedId(id, NOT_OF_NAME);
}

function escapedId(id: string, others: RegExp): string {
  return wellFormed(id)
    .replace(LOOKS_ESCAPED, '_x5F_')
    .replace(others, (character) => `_x${character.codePointAt(0)!.toString(16).toUpperCase()}_`);
}
