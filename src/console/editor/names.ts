// What may come next in a statement: keywords, functions, tables after a colon, columns after an alias and a dot.

import type { Table } from '../../client/index.ts';
import { BUILT_IN_COLUMNS, bare, FUNCTIONS, KEYWORDS, quoted } from '../statement-words.ts';

export interface Name {
  readonly label: string;
  readonly type: 'keyword' | 'function' | 'type' | 'property';
  readonly detail?: string;
  /** What is written, where that is not the label. */
  readonly apply?: string;
}

const keywords = KEYWORDS.map((label): Name => ({ label, type: 'keyword' }));
const functions = FUNCTIONS.map((label): Name => ({ label, type: 'function', apply: `${label}(` }));

/** The names for the word that ends at the place, and where it starts; none when nothing is written yet and nobody has asked. */
export function namesAt(
  text: string,
  place: number,
  tables: readonly Table[],
  isAsked: boolean,
): { readonly start: number; readonly names: readonly Name[] } | undefined {
  const plain = bare(text);
  const start = place - /\w*$/.exec(text.slice(0, place))![0].length;
  // Nothing is completed inside a text, a comment or a name in backquotes.
  if (plain[start] !== text[start]) return undefined;
  const before = plain.slice(0, start).trimEnd();
  if (before.endsWith('.')) return { start, names: columnsOf(text, plain, before, tables) };
  const tableNames = tables.map(({ name }): Name => ({ label: name, type: 'type', apply: quoted(name) }));
  const isTable = before.endsWith(':') || /\b(INTO|UPDATE|FROM|TABLE|COMPACT|ON|EXISTS)$/i.test(before);
  if (isTable) return { start, names: tableNames };
  if (start === place && !isAsked) return undefined;
  return { start, names: [...keywords, ...functions, ...tableNames] };
}

function columnsOf(text: string, plain: string, before: string, tables: readonly Table[]): readonly Name[] {
  const alias = /(\w+)\s*\.$/.exec(before)?.[1];
  // Names in backquotes are blanked in the bare text, so they are looked for in the text itself, at the same place.
  const place = new RegExp(`\\(\\s*${alias}\\s*:\\s*`).exec(plain);
  const written = place === null ? null : /^(?:`([^`]+)`|(\w+))/.exec(text.slice(place.index + place[0].length));
  const name = (place === null ? alias : (written?.[1] ?? written?.[2]))?.toLowerCase();
  const table = tables.find((item) => item.name.toLowerCase() === name);
  const own = (table?.columns ?? []).map(
    (column): Name => ({ label: column.name, type: 'property', detail: column.type, apply: quoted(column.name) }),
  );
  return [...BUILT_IN_COLUMNS.map((label): Name => ({ label, type: 'property' })), ...own];
}
