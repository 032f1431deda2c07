// Stores something that was said as one edge; things that nobody has named before become nodes in
// the same commit.

import type { Attach, Database, InsertOutcome, InsertResult } from '../engine/index.ts';
import type { EdgeInput } from '../model/edge.ts';
import { invalidFields } from '../model/fields.ts';
import { ABOUT, SOURCE, SUPERSEDES, WHAT, WHO } from '../model/memories.ts';
import { assertNamesThings, checkTexts } from './given-memory.ts';
import { ensureMemoryTable } from './memory-table.ts';

export interface NewMemory {
  /** Default: `memories`. A table that does not exist is created. */
  readonly table?: string | undefined;
  readonly what: string;
  /** Keys of the things that say or do it. */
  readonly who: readonly string[];
  /** Keys of the things that it is about. */
  readonly about: readonly string[];
  /** When it begins to hold, in epoch seconds. */
  readonly when: number;
  /** When it stops holding, in epoch seconds; undefined if that is not known. */
  readonly until?: number | undefined;
  readonly source?: string | undefined;
}

export interface Remembered extends InsertResult {
  readonly table: string;
  /** Whether there was no table when the memory came. */
  readonly isNewTable: boolean;
}

/**
 * Stores a memory; resolves when it is durable. Rejects with `invalid_input`, `empty_members`,
 * `too_many_members`, and with what `Table.insert` rejects with.
 */
export async function remember(
  database: Database,
  memory: NewMemory,
  attach?: Attach<InsertOutcome>,
): Promise<Remembered> {
  const { when, until, who, about } = memory;
  checkTexts(memory);
  assertNamesThings(who, about);
  assertEndsAfter(until, when, 'when');
  const { table, isNew } = await ensureMemoryTable(database, memory.table);
  const { row, lsn } = await table.insert(edgeOf(memory), attach);
  return { row, lsn, table: table.name, isNewTable: isNew };
}

/** Throws `invalid_input` if a memory would end before it begins. `begin` names its beginning. */
export function assertEndsAfter(until: number | undefined, beginning: number, begin: string): void {
  if (until === undefined || until >= beginning) return;
  throw invalidFields([{ loc: ['body', 'until'], msg: `is ${until}, before ${begin}, which is ${beginning}` }]);
}

/** Returns the edge of a memory. `supersedes` is the id of the memory that it replaces. */
export function edgeOf(
  {
    what,
    who,
    about,
    when,
    until = null,
    source = null,
  }: Omit<NewMemory, 'until' | 'source'> & {
    readonly until?: number | null | undefined;
    readonly source?: string | null | undefined;
  },
  supersedes: number | null = null,
): EdgeInput {
  return {
    event_ts: when,
    members: [],
    roles: { [WHO]: who, [ABOUT]: about },
    properties: { [WHAT]: what, [SOURCE]: source, [SUPERSEDES]: supersedes, end_ts: until },
  };
}
