// Parses PostgreSQL's text format into row values. No digits are lost, and values of types without
// a counterpart stay text.

import type { ColumnKind, SqlValue } from '../backend.ts';

export type TextReader = (text: string) => SqlValue;

const asText: TextReader = (text) => text;
const asBoolean: TextReader = (text) => text === 't';
const asNumber: TextReader = (text) => Number(text);
/** Parses a real number. NaN and the infinities, which JSON cannot represent, stay text. */
const asReal: TextReader = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
const asInteger: TextReader = (text) => {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
};
/** Parses an integer in a list. An integer beyond 2^53 stays text. */
const asListed: TextReader = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text);

/** Parsers by the OID of the type in pg_type. Built-in OIDs never change. */
const READERS: Readonly<Record<number, TextReader>> = {
  16: asBoolean,
  20: asInteger,
  21: asNumber,
  23: asNumber,
  26: asNumber,
  700: asReal,
  701: asReal,
};
/** Parsers of the items of a list, by the OID of the list type. */
const LISTS: Readonly<Record<number, TextReader>> = {
  1000: (text) => (text === 't' ? 'true' : 'false'),
  1003: asText,
  1005: asNumber,
  1007: asNumber,
  1009: asText,
  1014: asText,
  1015: asText,
  1016: asListed,
  1021: asReal,
  1022: asReal,
  1115: asText,
  1182: asText,
  1185: asText,
  1231: asText,
  2951: asText,
};

export function readerOf(oid: number): TextReader {
  const listed = LISTS[oid];
  return listed === undefined ? (READERS[oid] ?? asText) : (text) => readList(text, listed);
}

/** Parses an array such as `{a,"b c",NULL}`. A nested array stays text. */
function readList(text: string, read: TextReader): SqlValue {
  const items: (string | number | null)[] = [];
  if (!text.startsWith('{') || /^\{\s*\{/.test(text)) return text;
  let at = 1;
  while (at < text.length && text[at] !== '}') {
    let item = '';
    const quoted = text[at] === '"';
    if (quoted) {
      for (at++; at < text.length && text[at] !== '"'; at++) {
        if (text[at] === '\\') at++;
        item += text[at] ?? '';
      }
      at++;
    } else {
      const end = text.slice(at).search(/[,}]/);
      item = text.slice(at, at + end);
      at += end;
    }
    items.push(!quoted && item === 'NULL' ? null : (read(item) as string | number));
    if (text[at] === ',') at++;
  }
  return items;
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'decimal',
  float4: 'real',
  float8: 'real',
  text: 'text',
  varchar: 'text',
  bpchar: 'text',
  name: 'text',
  bool: 'boolean',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  date: 'date',
  time: 'time',
  timetz: 'time',
  uuid: 'uuid',
};

/** Returns the kind of a type by its name in pg_type. */
export function kindOfPostgres(typeName: string): ColumnKind {
  return KINDS[typeName] ?? 'other';
}
