// Catalog changes: the JSON documents of CATALOG operations, and what each change does to the
// definition of its table. To add a kind of change, add a type and an entry in EFFECTS.

import type { Column } from '../../model/columns.ts';
import type { AlterableOption } from '../../model/options.ts';
import type { TableDefinition, TextIndex } from './catalog.ts';

/** One catalog change, as stored in the JSON document of a CATALOG operation. */
export type CatalogChange =
  | { op: 'create_table'; table: TableDefinition }
  /** `nextNumber`: of a node table, the number of the next node, so that none is used again. */
  | { op: 'drop_table'; id: number; nextNumber?: number }
  | DefinitionChange;

/** A change to one table's definition. */
export type DefinitionChange = OptionChange | IndexChange | ShapeChange | Expiration;

export type OptionChange = { op: 'set_threshold'; id: number; threshold: number };

/**
 * A compaction with a TTL has dropped all edges before a time (epoch seconds). Definitions stay the
 * same; readers of changes learn of it.
 */
type Expiration = { op: 'drop_buckets'; id: number; beforeTs: number };

/** `column` is a column id; `createdAt` is in epoch seconds. */
type IndexChange =
  | { op: 'create_index'; id: number; column: number; createdAt: number }
  | { op: 'drop_index'; id: number; column: number }
  | { op: 'create_text_index'; id: number; text: TextIndex }
  | { op: 'drop_text_index'; id: number };

/**
 * A change to the columns or the name of a table. `column` is a column id, except in `add_column`:
 * there it is the new column, whose id is the `nextColumnId` of the definition.
 */
export type ShapeChange =
  | { op: 'add_column'; id: number; column: Column }
  | { op: 'drop_column'; id: number; column: number }
  | { op: 'rename_column'; id: number; column: number; name: string }
  | { op: 'rename_table'; id: number; name: string };

interface Effect<Change> {
  /**
   * Whether the change alters columns or names, so that names looked up before it are out of date.
   */
  readonly isOfShape: boolean;
  readonly on: (definition: TableDefinition, change: Change) => TableDefinition;
}

const EFFECTS: { readonly [Op in DefinitionChange['op']]: Effect<Extract<DefinitionChange, { op: Op }>> } = {
  set_threshold: {
    isOfShape: false,
    on: (definition, { threshold }) => ({ ...definition, compactThreshold: threshold }),
  },
  create_index: {
    isOfShape: false,
    on: (definition, { column, createdAt }) => ({
      ...definition,
      indexes: [...indexesWithout(definition, column), { column, createdAt }],
    }),
  },
  drop_index: {
    isOfShape: false,
    on: (definition, { column }) => ({ ...definition, indexes: indexesWithout(definition, column) }),
  },
  create_text_index: { isOfShape: false, on: (definition, { text }) => ({ ...definition, text }) },
  drop_text_index: { isOfShape: false, on: (definition) => withoutText(definition) },
  add_column: {
    isOfShape: true,
    on: (definition, { column }) => ({
      ...definition,
      columns: [...definition.columns, column],
      nextColumnId: column.id + 1,
    }),
  },
  drop_column: {
    isOfShape: true,
    on: (definition, { column }) => ({
      ...(definition.text?.columns.includes(column) ? withoutText(definition) : definition),
      columns: definition.columns.filter(({ id }) => id !== column),
      indexes: indexesWithout(definition, column),
    }),
  },
  rename_column: {
    isOfShape: true,
    on: (definition, { column, name }) => ({
      ...definition,
      columns: definition.columns.map((each) => (each.id === column ? { ...each, name } : each)),
    }),
  },
  drop_buckets: { isOfShape: false, on: (definition) => definition },
  rename_table: { isOfShape: true, on: (definition, { name }) => ({ ...definition, name }) },
};

/** Returns whether this build knows this kind of change; a newer build may have written the log. */
export function isKnownChange(op: unknown): op is CatalogChange['op'] {
  return op === 'create_table' || op === 'drop_table' || (typeof op === 'string' && Object.hasOwn(EFFECTS, op));
}

export function isOfShape({ op }: DefinitionChange): boolean {
  return EFFECTS[op].isOfShape;
}

/** Returns the definition after the change. */
export function changed(definition: TableDefinition, change: DefinitionChange): TableDefinition {
  const { on } = EFFECTS[change.op] as Effect<DefinitionChange>;
  return on(definition, change);
}

/** Returns the change that sets an option. Each option has its own kind of change in the log. */
export function optionChange(id: number, option: AlterableOption, value: number): OptionChange {
  switch (option) {
    case 'compactThreshold':
      return { op: 'set_threshold', id, threshold: value };
  }
}

function withoutText({ text: _, ...definition }: TableDefinition): TableDefinition {
  return definition;
}

function indexesWithout({ indexes }: TableDefinition, id: number): TableDefinition['indexes'] {
  return indexes.filter(({ column }) => column !== id);
}
