// Shows a table as the statements that create it.

import { IDENTIFIER } from '../../model/columns.ts';
import { optionWords } from '../../model/options.ts';
import { type ShapeFields, shapeWords } from '../../model/shape.ts';
import type { Row } from '../run/runner.ts';

/** Returns the statements. `table` is a row of SHOW TABLES; `indexes` are rows of SHOW INDEXES. */
export function schemaText(table: Row, indexes: readonly Row[]): string {
  const columns = table.columns as readonly { name: string; type: string }[];
  const members = (table.member_tables as readonly string[]).map(nameText).join(', ');
  const name = nameText(table.name as string);
  const shape = shapeWords(table as Row & Pick<ShapeFields, 'roles' | 'intervals'>, nameText);
  const lines = [
    `CREATE HYPEREDGE TABLE ${name} (${members})${shape}${propertiesText(columns)}\n  ${optionWords(table)};`,
    ...indexLines(table, indexes),
  ];
  return `${lines.join('\n')}\n`;
}

/** Does the same as `schemaText` for a row of SHOW NODE TABLES. */
export function nodeSchemaText(table: Row, indexes: readonly Row[]): string {
  const name = nameText(table.name as string);
  const properties = propertiesText(table.columns as readonly NamedType[]);
  const lines = [`CREATE NODE TABLE ${name} (${keyText(table.key)})${properties};`, ...indexLines(table, indexes)];
  return `${lines.join('\n')}\n`;
}

interface NamedType {
  readonly name: string;
  readonly type: string;
}

/** Returns the key of a node table as it stands in its definition. */
export function keyText(key: unknown): string {
  const { name, type } = key as NamedType;
  return `${nameText(name)} ${type}`;
}

function propertiesText(columns: readonly NamedType[]): string {
  return columns.length === 0 ? '' : `\n  PROPERTIES (${columns.map(keyText).join(', ')})`;
}

function indexLines({ name }: Row, indexes: readonly Row[]): string[] {
  return indexes
    .filter((index) => index.table === name)
    .map((index) => `CREATE INDEX ON ${nameText(name as string)} (${nameText(index.column as string)});`);
}

function nameText(name: string): string {
  return IDENTIFIER.test(name) ? name : `\`${name}\``;
}
