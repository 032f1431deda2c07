// What a table must have to hold the memories of agents: an edge is something that was said, its
// members are the things who said it and what it is about, and it holds from event_ts to end_ts.

/** Names of the table that is used by default, and of the node table of a new one. */
export const MEMORY_TABLE = 'memories';
export const THING_TABLE = 'things';
/** Name of the key column of a new node table. */
export const THING_KEY = 'name';

/** Names of the roles. */
export const WHO = 'who';
export const ABOUT = 'about';

/** Names of the columns. */
export const WHAT = 'what';
export const SOURCE = 'source';
/** The id of the memory that this one replaced; null if there is none. */
export const SUPERSEDES = 'supersedes';

/** An edge as answers about retrieved edges contain it. */
interface ShownEdge {
  /** Only in tables with intervals. */
  readonly end_ts?: number | null | undefined;
  /** Only in tables with roles. */
  readonly roles?: Readonly<Record<string, unknown>> | undefined;
  /** User columns by name. */
  readonly properties: Readonly<Record<string, unknown>>;
}

/**
 * Returns the id of the memory that an edge superseded; undefined if there is none, or if its table
 * is not one of memories.
 */
export function supersededBy({ end_ts: end, roles, properties }: ShownEdge): number | undefined {
  if (end === undefined || roles === undefined) return undefined;
  if (!Object.hasOwn(roles, WHO) || !Object.hasOwn(roles, ABOUT)) return undefined;
  if (!Object.hasOwn(properties, WHAT) || !Object.hasOwn(properties, SUPERSEDES)) return undefined;
  const id = properties[SUPERSEDES];
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

/** A table as lists of tables describe it. */
interface ListedTable {
  readonly intervals?: boolean | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** Returns whether the column `supersedes` of a table holds ids of memories of this table. */
export function holdsMemories({ intervals, roles = [], columns }: ListedTable): boolean {
  const has = (name: string, type: string) => columns.some((column) => column.name === name && column.type === type);
  return (
    intervals === true &&
    roles.includes(WHO) &&
    roles.includes(ABOUT) &&
    has(WHAT, 'TEXT') &&
    has(SUPERSEDES, 'INTEGER')
  );
}
