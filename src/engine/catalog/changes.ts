// Catalog changes: the documents of CATALOG operations, and what each does to the definition of its
// table. A new kind of change is a type and an entry of EFFECTS.

import type { Column } from '../../model/columns.ts';
import type { AlterableOption } from '../../model/options.ts';
import type { TableDefinition } from './catalog.ts';

/** One catalog change: the document of a CATALOG operation. */
export type CatalogChange =
  | { op: 'create_table'; table: TableDefinition }
  | { op: 'drop_table'; id: number }
  | DefinitionChange;

/** A change of one table's definition. */
export type DefinitionChange = OptionChange | IndexChange | ShapeChange;

export type OptionChange = { op: 'set_threshold'; id: number; threshold: number };

/** `column` is a column id; `createdAt` is in epoch seconds. */
type IndexChange =
  | { op: 'create_index'; id: number; column: number; createdAt: number }
  | { op: 'drop_index'; id: number; column: number };

/**
 * Change of the columns or the name of a table. `column` is a column id; an added column takes the
 * definition's next column id.
 */
export type ShapeChange =
  | { op: 'add_column'; id: number; column: Column }
  | { op: 'drop_column'; id: number; column: number }
  | { op: 'rename_column'; id: number; column: number; name: string }
  | { op: 'rename_table'; id: number; name: string };

interface Effect<Change> {
  /** Columns or the name change: whatever was looked up in the table is out of date then. */
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
      ...definition,
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
  rename_table: { isOfShape: true, on: (definition, { name }) => ({ ...definition, name }) },
};

/** Whether this build knows a change of that kind; the log may be of a newer one. */
export function isKnownChange(op: unknown): op is CatalogChange['op'] {
  return op === 'create_table' || op === 'drop_table' || (typeof op === 'string' && Object.hasOwn(EFFECTS, op));
}

export function isOfShape({ op }: DefinitionChange): boolean {
  return EFFECTS[op].isOfShape;
}

/** The definition after the change. */
export function changed(definition: TableDefinition, change: DefinitionChange): TableDefinition {
  const { on } = EFFECTS[change.op] as Effect<DefinitionChange>;
  return on(definition, change);
}

/** The change that gives an option a value; each option has its own form in the log. */
export function optionChange(id: number, option: AlterableOption, value: number): OptionChange {
  switch (option) {
    case 'compactThreshold':
      return { op: 'set_threshold', id, threshold: value };
  }
}

function indexesWithout({ indexes }: TableDefinition, id: number): TableDefinition['indexes'] {
  return indexes.filter(({ column }) => column !== id);
}
