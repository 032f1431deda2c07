// Keeps the newest changes as short texts, grouped by commit. The number of rows and the length of
// their texts are limited, so memory does not grow however many changes arrive.

import { cellText, timeText } from '../format.ts';
import { UnexpectedAnswer } from './unexpected-answer.ts';

export const MOST_ROWS = 200;
const MOST_FIELDS = 12;
const MOST_CHARACTERS = 80;

type Fields = Readonly<Record<string, unknown>>;

/** A change as the service sends it; only these four fields are certain. */
export interface Change extends Fields {
  readonly lsn: number;
  readonly ts: number;
  readonly table: string;
  readonly op: string;
}

export interface ChangedField {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export interface ChangeRow {
  readonly lsn: number;
  readonly table: string;
  readonly op: string;
  /** Of changes to edges: the id of the edge. */
  readonly id: number | undefined;
  /** Of updates: the fields whose values differ, at most `MOST_FIELDS`. */
  readonly fields: readonly ChangedField[];
  readonly summary: string;
}

export interface Commit {
  /** LSN of its first change that was received. */
  readonly lsn: number;
  /** Epoch seconds. */
  readonly ts: number;
  /** Number of changes received, including those that are no longer kept as rows. */
  readonly count: number;
  /** True once its last change was received. */
  readonly isWhole: boolean;
  /** The newest first. */
  readonly rows: readonly ChangeRow[];
}

interface OpenCommit extends Commit {
  count: number;
  isWhole: boolean;
  /** The oldest first. */
  readonly rows: ChangeRow[];
}

export class ChangeFeed {
  /** LSN from which reading continues; undefined before the first request. */
  lastLsn: number | undefined;
  /** Number of changes received. */
  seen = 0;
  /** The oldest first. */
  #commits: OpenCommit[] = [];
  #rowCount = 0;

  /** Adds a change; one that was already received is ignored. */
  push(change: Change): void {
    if (change.lsn <= (this.lastLsn ?? -1)) return;
    this.lastLsn = change.lsn;
    this.seen += 1;
    let commit = this.#commits.at(-1);
    if (commit === undefined || commit.isWhole) {
      commit = { lsn: change.lsn, ts: change.ts, count: 0, isWhole: false, rows: [] };
      this.#commits.push(commit);
    }
    commit.count += 1;
    commit.isWhole = change.commit_end === true;
    commit.rows.push(rowOf(change));
    this.#rowCount += 1;
    if (this.#rowCount > MOST_ROWS) this.#dropOldest();
  }

  /** Returns a copy, the newest commit first. */
  commits(): readonly Commit[] {
    return this.#commits.map((commit) => ({ ...commit, rows: commit.rows.toReversed() })).reverse();
  }

  #dropOldest(): void {
    const oldest = this.#commits[0]!;
    oldest.rows.shift();
    this.#rowCount -= 1;
    if (oldest.rows.length === 0) this.#commits.shift();
  }
}

/** Parses the data of an event. Throws `UnexpectedAnswer` if it is not a change. */
export function changeOf(text: string): Change {
  const value = objectOf(text);
  const { lsn, ts, table, op } = value;
  if (!Number.isSafeInteger(lsn) || typeof ts !== 'number' || typeof table !== 'string' || typeof op !== 'string')
    throw new UnexpectedAnswer();
  return value as Change;
}

function objectOf(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    throw new UnexpectedAnswer();
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export function rowOf(change: Change): ChangeRow {
  const { lsn, table, op, id } = change;
  return {
    lsn,
    table,
    op,
    id: typeof id === 'number' ? id : undefined,
    fields: op === 'update' ? changedFields(fieldsOf(change.before), fieldsOf(change.row)) : [],
    summary: clipped(summaryOf(change), 3 * MOST_CHARACTERS),
  };
}

function changedFields(before: Fields, row: Fields): ChangedField[] {
  const fields: ChangedField[] = [];
  for (const name of Object.keys(row)) {
    if (fields.length === MOST_FIELDS) break;
    if (!Object.hasOwn(before, name) || isSame(before[name], row[name])) continue;
    fields.push({
      name,
      before: valueText(name, before[name]),
      after: valueText(name, row[name]),
    });
  }
  return fields;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function summaryOf(change: Change): string {
  switch (change.op) {
    case 'insert':
      return edgeText(fieldsOf(change.row));
    case 'update':
      return change.before === undefined ? 'The edge before it is not known.' : '';
    case 'delete':
      return edgeText(fieldsOf(change.before));
    case 'buckets_dropped':
      return `all edges before ${valueText('event_ts', change.before_ts)} UTC`;
    default:
      return definitionText(change);
  }
}

/** Describes a change of a table or an index. */
function definitionText({ renamed_from: from, column, columns }: Change): string {
  if (typeof from === 'string') return `renamed from ${from}`;
  if (typeof column === 'string') return `column ${column}`;
  if (!Array.isArray(columns)) return '';
  const names = columns.slice(0, MOST_FIELDS).map((item) => fieldsOf(item).name);
  return `columns ${cellText(names)}`;
}

/** Describes an edge by its fields that are not null. */
function edgeText(row: Fields): string {
  return Object.keys(row)
    .filter((name) => name !== 'id' && row[name] !== null)
    .slice(0, MOST_FIELDS)
    .map((name) => `${name} ${valueText(name, row[name])}`)
    .join(' · ');
}

function valueText(name: string, value: unknown): string {
  if (/^(event|end)_ts$/.test(name) && typeof value === 'number') return timeText(value);
  return clipped(cellText(value));
}

function clipped(text: string, most = MOST_CHARACTERS): string {
  if (text.length <= most) return text;
  // Joined anew: a slice would keep the whole text in memory.
  return `${[...text.slice(0, most - 1)].join('')}…`;
}
