// What may come next in a statement: keywords, functions, tables after a colon, columns after an alias and a dot.

import type { Table } from '../../client/index.ts';
import { BUILT_IN_COLUMNS, bare, FUNCTIONS, KEYWORDS, quoted } from '../statement-words.ts';
import type { CompletionContext, CompletionResult } from './code-mirror.ts';

const keywordOptions = KEYWORDS.map((label) => ({ label, type: 'keyword' }));
const functionOptions = FUNCTIONS.map((label) => ({ label, type: 'function', apply: `${label}(` }));

/** The tables are asked for at each completion: they change while the editor is open. */
export function completionOf(tables: () => readonly Table[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const text = context.state.doc.toString();
    const word = context.matchBefore(/\w*/)!;
    const before = text.slice(0, word.from).trimEnd();
    const last = before.at(-1);
    if (last === '.') return { from: word.from, options: columnOptions(text, before, tables()), validFor: /^\w*$/ };
    const tableOptions = tables().map(({ name }) => ({ label: name, type: 'type', apply: quoted(name) }));
    const isTable = last === ':' || /\b(INTO|UPDATE|FROM|TABLE|COMPACT|ON|EXISTS)$/i.test(before);
    if (isTable) return { from: word.from, options: tableOptions, validFor: /^\w*$/ };
    if (word.from === word.to && !context.explicit) return null;
    return { from: word.from, options: [...keywordOptions, ...functionOptions, ...tableOptions], validFor: /^\w*$/ };
  };
}

function columnOptions(text: string, before: string, tables: readonly Table[]) {
  const alias = /(\w+)\s*\.$/.exec(before)?.[1];
  // Names in backquotes are blanked in the bare text, so they are looked for in the text itself, at the same place.
  const place = new RegExp(`\\(\\s*${alias}\\s*:\\s*`).exec(bare(text));
  const name = place === null ? alias : /^`?(\w+)/.exec(text.slice(place.index + place[0].length))?.[1];
  const table = tables.find((item) => item.name.toLowerCase() === name?.toLowerCase());
  const own = (table?.columns ?? []).map((column) => ({
    label: column.name,
    type: 'property',
    detail: column.type,
    apply: quoted(column.name),
  }));
  return [...BUILT_IN_COLUMNS.map((label) => ({ label, type: 'property' })), ...own];
}
