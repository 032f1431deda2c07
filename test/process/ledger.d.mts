// Types of ledger.mjs, which is plain JavaScript because the processes that are killed run without a loader.

export const PRIMARY: string;
export const ROWS_PER_OPERATION: number;
export const NOW_SECONDS: number;
export const TTL_SECONDS: number;

export interface Part {
  table: string;
  start: number;
  rows: number;
  old: boolean;
}

export interface PlannedRow {
  table: string;
  of: number;
  index: number;
  old: boolean;
  tag: number;
}

export type Kind =
  | 'insert'
  | 'delete'
  | 'transaction'
  | 'createTable'
  | 'dropTable'
  | 'addColumn'
  | 'dropColumn'
  | 'putDocument'
  | 'removeDocument'
  | 'createIndex'
  | 'dropIndex'
  | 'threshold'
  | 'ttl'
  | 'compact'
  | 'backup';

/** The kind determines which fields are present. */
export interface Operation extends Partial<PlannedRow> {
  n: number;
  kind: Kind;
  column?: string;
  document?: string;
  threshold?: number;
  bulk?: boolean;
  keyed?: boolean;
  parts?: Part[];
  deletes?: PlannedRow[];
  updates?: PlannedRow[];
}

export interface Group {
  start: number;
  rows: number;
  old: boolean;
  firstId: number | undefined;
  dead: Set<number>;
  changed: Map<number, number>;
}

export interface LedgerTable {
  columns: { name: string; value: number }[];
  index: boolean;
  threshold: number | null;
  groups: Map<number, Group>;
}

export interface ExpectedRow {
  old: boolean;
  formation: string | null;
  id: number | undefined;
}

export interface Draws {
  below(limit: number): number;
}

export class Ledger {
  next: number;
  tables: Map<string, LedgerTable>;
  documents: Map<string, number>;
  answers: Map<number, number | null>;
  open: Map<number, Operation>;
  constructor(state?: unknown);
  toJSON(): unknown;
  begin(operation: Operation): void;
  apply(n: number, firstIds?: readonly (number | undefined)[]): void;
  forget(n: number): void;
  rowsOf(name: string): Map<number, ExpectedRow>;
  plan(random: Draws, kinds: Readonly<Record<string, number>>): Operation | undefined;
}

export function rowOf(
  tag: number,
  old: boolean,
): { event_ts: number; members: number[]; weight: number; formation: string | null };
export function edgeOf(
  tag: number,
  old: boolean,
  formation?: string | null,
): {
  event_ts: number;
  members: number[];
  properties: { weight: number; formation: string | null };
};
export function answerKey(number: number): string;
export function changedBy(number: number): string;
