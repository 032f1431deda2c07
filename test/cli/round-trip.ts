// Random tables, and what of their edges must be the same after an export and an import.

import type { Database, Table } from '../../src/engine/index.ts';
import type { ColumnType, PropertyValue } from '../../src/engine/types.ts';
import type { Random } from '../support/random.ts';
import { rowsOf } from './support.ts';

const TYPES: readonly ColumnType[] = ['INTEGER', 'REAL', 'TEXT', 'BOOLEAN'];
const TEXTS = [
  '',
  ' ',
  'a',
  '12',
  '-0',
  '1e5',
  'true',
  'null',
  'a;b',
  'a,b',
  '"',
  'a "b"',
  'line\nline',
  '\r\n',
  'é',
  '🦊',
  '[1,2]',
  "it's",
  '\\',
  '=1+1',
  '007',
];
const REALS = [0, 0.5, -1.25, 1e300, 5e-324, 1 / 3, 3, -7, 123456789.125];

export async function randomTable(database: Database, random: Random, name: string): Promise<Table> {
  const columns = Array.from({ length: random.below(4) }, (_, at) => ({
    name: `c${at}`,
    type: TYPES[random.below(4)]!,
  }));
  const table = await database.createTable({ name, columns, bucketSeconds: 1 + random.below(100) });
  const count = random.chance(0.05) ? 0 : 1 + random.below(40);
  if (count === 0) return table;
  const bulk = table.bulk();
  for (let i = 0; i < count; i++) {
    const properties: Record<string, PropertyValue> = {};
    for (const { name: column, type } of columns)
      if (random.chance(0.8)) properties[column] = randomValue(type, random);
    if (random.chance(0.5)) properties.weight = REALS[random.below(REALS.length)]!;
    if (random.chance(0.3)) properties.formation = TEXTS[random.below(TEXTS.length)]!;
    bulk.add({
      event_ts: random.chance(0.1) ? -random.below(1000) : random.below(2_000_000_000),
      members: Array.from({ length: 1 + random.below(6) }, () => (random.chance(0.1) ? -1 : 1) * random.below(50)),
      properties,
    });
  }
  await bulk.commit();
  return table;
}

function randomValue(type: ColumnType, random: Random): PropertyValue {
  switch (type) {
    case 'INTEGER':
      return random.chance(0.1) ? Number.MAX_SAFE_INTEGER : random.below(1000) - 500;
    case 'REAL':
      return REALS[random.below(REALS.length)]!;
    case 'BOOLEAN':
      return random.chance(0.5);
    case 'TEXT':
      return TEXTS[random.below(TEXTS.length)]!;
  }
}

/** Everything but ids, in an order of its own. */
export function multiset(table: Table): string[] {
  return rowsOf(table)
    .map(({ id: _, ...rest }) => JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))))
    .sort();
}
