// Holds what all views share: the tables, indexes and rules of the service, the chosen table, the
// window of time, and the view.

import type { Index, NodeTable, RuleList, Table } from '../client/index.ts';
import { given } from './given.ts';
import { computed, effect, signal } from './preact.ts';
import { connection, session } from './session.ts';

/** Seconds, both ends included. */
export interface TimeWindow {
  readonly start: number;
  readonly end: number;
}

/** The names of the views. */
export const VIEWS = ['query', 'measures', 'rules', 'ask', 'changes', 'import', 'virtual', 'operations'] as const;
/** A view, or the page of a node, which is reached by links only (node-link.tsx). */
export type ViewName = (typeof VIEWS)[number] | 'node';

/** Returns the title of a view: its name with a capital letter. */
export const titleOf = (name: ViewName): string => name[0]!.toUpperCase() + name.slice(1);

export const tables = signal<readonly Table[]>([]);
export const nodeTables = signal<readonly NodeTable[]>([]);
export const indexes = signal<readonly Index[]>([]);

/** Whether an index, on numbers or texts, is on a column. */
export function hasColumn(index: Index, column: string): boolean {
  return 'kind' in index ? index.columns.includes(column) : index.column === column;
}
export const rules = signal<RuleList['rules']>([]);
export const catalogError = signal<unknown>(undefined);
/** True once a request for the lists has ended, whether or not it succeeded. */
export const isListed = signal(false);
export const tableName = signal('');
export const table = computed(() => tables.value.find(({ name }) => name === tableName.value));
/** Undefined: all of time. */
export const timeWindow = signal<TimeWindow | undefined>(undefined);
/** Counts the changes made by this page, so that views reload their data. */
export const revision = signal(0);
/** The part of the page's address after the hash: the name of a view, or `node/Person/Ada`. */
export const address = signal(location.hash.slice(1));
export const view = computed<ViewName>(() =>
  address.value.startsWith('node/') ? 'node' : (VIEWS.find((known) => known === address.value) ?? 'query'),
);
/** A statement that another view, or the link that opened the page, wants to run. */
export const wantedStatement = signal<string | undefined>(given.statement);

/** A table, or a column of one, whose name is to be inserted at the caret of the statement. */
export interface WantedName {
  readonly table: string;
  readonly column?: string;
}
export const wantedName = signal<WantedName | undefined>(undefined);

/** Forgets what was loaded or chosen since the sign-in. */
export function forgetAll(): void {
  tables.value = [];
  nodeTables.value = [];
  indexes.value = [];
  rules.value = [];
  tableName.value = '';
  timeWindow.value = undefined;
  wantedStatement.value = undefined;
  wantedName.value = undefined;
  catalogError.value = undefined;
  isListed.value = false;
}

export async function loadCatalog(): Promise<void> {
  const by = session.value;
  try {
    const [tableList, nodeTableList, indexList, ruleList] = await Promise.all([
      connection().json<Table[]>('listTables'),
      connection().json<NodeTable[]>('listNodeTables'),
      connection().json<Index[]>('listIndexes'),
      connection().json<RuleList>('listRules'),
    ]);
    // The user has signed out meanwhile.
    if (session.value !== by) return;
    // A proxy may have answered. Anything but lists would break the views.
    const lists = [tableList, nodeTableList, indexList, ruleList.rules];
    if (!lists.every(Array.isArray)) throw new TypeError('no list');
    tables.value = tableList;
    nodeTables.value = nodeTableList;
    indexes.value = indexList;
    rules.value = ruleList.rules;
    catalogError.value = undefined;
    if (!tableList.some(({ name }) => name === tableName.value)) tableName.value = fullestOf(tableList);
  } catch (error) {
    if (session.value === by) catalogError.value = error;
  }
  if (session.value === by) isListed.value = true;
}

/** Called after a change: reloads the lists, and makes plots reload their data. */
export async function dataChanged(): Promise<void> {
  await loadCatalog();
  revision.value += 1;
}

export function chooseTable(name: string): void {
  if (name === tableName.value) return;
  tableName.value = name;
  timeWindow.value = undefined;
}

export function openView(name: ViewName): void {
  location.hash = name;
}

export function followAddress(): () => void {
  const follow = () => {
    address.value = location.hash.slice(1);
  };
  addEventListener('hashchange', follow);
  const untitle = effect(() => {
    document.title = `${titleOf(view.value)} - Hedgerow`;
  });
  return () => {
    removeEventListener('hashchange', follow);
    untitle();
  };
}

/** Returns the table with the most rows, so that a new user sees some data. */
function fullestOf(list: readonly Table[]): string {
  const ordered = [...list].sort((a, b) => b.row_count - a.row_count || Number(b.primary) - Number(a.primary));
  return ordered[0]?.name ?? '';
}
