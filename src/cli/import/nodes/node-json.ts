// Reads nodes as NDJSON: one object per line, with the key and the attributes by column.

import type { ColumnType } from '../../../engine/index.ts';
import { IDENTIFIER } from '../../../model/columns.ts';
import { cellType, commonType } from '../../../tabular/cell-types.ts';
import { USUAL_KEYS } from '../../../tabular/node-columns.ts';
import { UsageError } from '../../world.ts';
import { lineBatches } from '../line-batches.ts';
import { headLines } from '../ndjson-input.ts';
import type { LookedInto } from '../planned-input.ts';
import { shownEdges } from '../planned-input.ts';
import { type Source, without } from '../source.ts';
import type { TableColumn } from '../targets/target.ts';
import type { NodeFlags } from './node-rows.ts';

/** Reads ahead to find the columns. */
export async function lookIntoNodeLines(source: Source, flags: NodeFlags): Promise<LookedInto> {
  const { lines, chunks } = await headLines(source);
  const columns = columnsOf(lines);
  return {
    plan: (known) => {
      const key = known[0] ?? keyIn(columns, flags, source.label);
      const attributes = columns
        .filter(({ name }) => name.toLowerCase() !== key.name.toLowerCase())
        .map((column) => known.find(({ name }) => isSame(name, column.name)) ?? typed(column, flags));
      return {
        columns: attributes,
        key,
        intervals: false,
        roles: [],
        named: key.type === 'TEXT',
        notes: [
          'one JSON object a line',
          `key: ${key.name} ${key.type}`,
          ...attributes.map(({ name, type }) => `attribute: ${name} ${type}`),
        ],
        warnings: [],
        firstEdges: () => shownEdges(lines, (line) => line.trim()),
        batches: (limits, from) => lineBatches(without(chunks, from.offset), limits, from),
      };
    },
    close() {},
  };
}

function keyIn(columns: readonly TableColumn[], flags: NodeFlags, label: string): TableColumn {
  const wanted = flags.key === undefined ? USUAL_KEYS : [flags.key];
  for (const name of wanted) {
    const found = columns.find((column) => isSame(column.name, name));
    if (found === undefined) continue;
    const type = flags.types.get(found.name) ?? found.type;
    return { name: found.name, type: type === 'INTEGER' ? 'INTEGER' : 'TEXT' };
  }
  throw new UsageError(
    `The lines of ${label} have no ${wanted.join(', ')}; name the key of the objects that is the key of the nodes in --key.`,
  );
}

function typed(column: TableColumn, { types }: NodeFlags): TableColumn {
  return { name: column.name, type: types.get(column.name) ?? column.type };
}

/** Returns the keys of the objects, each with a type that fits its values. */
function columnsOf(lines: readonly string[]): TableColumn[] {
  const seen = new Map<string, { name: string; types: Set<ColumnType> }>();
  for (const line of lines) {
    for (const [name, value] of Object.entries(objectIn(line))) {
      if (!IDENTIFIER.test(name)) continue;
      const column = seen.get(name.toLowerCase()) ?? { name, types: new Set() };
      seen.set(name.toLowerCase(), column);
      const type = cellType(value, true);
      if (type !== undefined) column.types.add(type);
    }
  }
  return [...seen.values()].map(({ name, types }) => ({ name, type: commonType(types) }));
}

/** A line that is not a JSON object is reported when it is read. */
function objectIn(line: string): object {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
