// Reads NDJSON as an input of an import: one JSON edge per line, in the format of the server.

import type { ColumnType } from '../../engine/index.ts';
import { IDENTIFIER, RESERVED_NAMES } from '../../model/columns.ts';
import { ROLES_FIELD } from '../../model/shape.ts';
import { cellType, commonType } from '../../tabular/cell-types.ts';
import { kindsIn } from '../../tabular/member-keys.ts';
import { lineBatches } from './line-batches.ts';
import type { LookedInto } from './planned-input.ts';
import { shownEdges } from './planned-input.ts';
import { peek, type Source, without } from './source.ts';
import type { TableColumn } from './targets/target.ts';

const HEAD_BYTES = 512 * 1024;
const SAMPLE_LINES = 1000;

/**
 * Reads ahead only when `wantsColumns` is true, to find the columns and node tables that may have
 * to be created.
 */
export async function lookIntoNdjson(source: Source, wantsColumns: boolean, intervals: boolean): Promise<LookedInto> {
  const { lines, chunks } = wantsColumns ? await headLines(source) : { lines: [], chunks: source.chunks };
  const columns = columnsOf(lines);
  return {
    plan: (known, roles = []) => {
      const members = lines.flatMap((line) => membersIn(line, roles));
      const own = columns.filter(({ name }) => !isOfRoles(name, roles));
      return {
        roles: [],
        columns: own.map((column) => known.find(({ name }) => isSame(name, column.name)) ?? column),
        intervals,
        named: members.some((member) => typeof member !== 'number'),
        kinds: kindsIn(members),
        notes: ['one JSON edge a line', ...own.map(({ name, type }) => `property: ${name} ${type}`)],
        warnings: [],
        firstEdges: () => shownEdges(lines, (line) => line.trim()),
        batches: (limits, from) => lineBatches(without(chunks, from.offset), limits, from),
      };
    },
    close() {},
  };
}

/** Returns whether a key of a line is a role of the table, or the field with all roles. */
function isOfRoles(name: string, roles: readonly string[]): boolean {
  return roles.length > 0 && [...roles, ROLES_FIELD].some((role) => isSame(role, name));
}

/** Returns the first complete lines that are not blank, and the whole input. */
export async function headLines(
  source: Source,
): Promise<{ readonly lines: readonly string[]; readonly chunks: AsyncIterable<Buffer> }> {
  const { head, isWhole, chunks } = await peek(source.chunks, HEAD_BYTES);
  const end = isWhole ? head.length : head.lastIndexOf(10) + 1;
  const lines = head
    .toString('utf8', 0, end)
    .replace(/^\ufeff/, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, SAMPLE_LINES);
  return { lines, chunks };
}

/**
 * Returns the members that a line names, in `members` or as the holders of roles; none for a line
 * that is not an edge.
 */
function membersIn(line: string, roles: readonly string[]): readonly unknown[] {
  try {
    const row = JSON.parse(line) as Record<string, unknown>;
    const inner = row[ROLES_FIELD];
    const given = { ...row, ...(typeof inner === 'object' ? inner : {}) };
    const names = ['members', ...roles];
    return Object.entries(given).flatMap(([name, value]) =>
      Array.isArray(value) && names.some((one) => isSame(one, name)) ? value : [],
    );
  } catch {
    return [];
  }
}

/** Returns the keys that need a column of their own, each with a type that fits its values. */
function columnsOf(lines: readonly string[]): TableColumn[] {
  const seen = new Map<string, { name: string; types: Set<ColumnType> }>();
  for (const line of lines) {
    for (const [name, value] of entriesOf(line)) {
      if (RESERVED_NAMES.has(name.toLowerCase()) || !IDENTIFIER.test(name)) continue;
      const column = seen.get(name.toLowerCase()) ?? { name, types: new Set() };
      seen.set(name.toLowerCase(), column);
      const type = cellType(value, true);
      if (type !== undefined) column.types.add(type);
    }
  }
  return [...seen.values()].map(({ name, types }) => ({ name, type: commonType(types) }));
}

/**
 * Returns the entries of a line and of its `properties`. Returns none for a line that is not a JSON
 * object; that fault is reported when the line is read.
 */
function entriesOf(line: string): [string, unknown][] {
  try {
    const row = JSON.parse(line) as Record<string, unknown>;
    const inner = row.properties;
    return [...Object.entries(row), ...(typeof inner === 'object' && inner !== null ? Object.entries(inner) : [])];
  } catch {
    return [];
  }
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
