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
  const properties =
    columns.length === 0
      ? ''
      : `\n  PROPERTIES (${columns.map((column) => `${nameText(column.name)} ${column.type}`).join(', ')})`;
  const lines = [
    `CREATE HYPEREDGE TABLE ${name} (${members})${shape}${properties}\n  ${optionWords(table)};`,
    ...indexes
      .filter((index) => index.table === table.name)
      .map((index) => `CREATE INDEX ON ${name} (${nameText(index.column as string)});`),
  ];
  return `${lines.join('\n')}\n`;
}

function nameText(name: string): string {
  return IDENTIFIER.test(name) ? name : `\`${name}\``;
}
