// Makes random requests for reads whose bounds are times, nodes and values that rows have.

import type { Table } from '../../src/engine/index.ts';
import type { EdgeRow, RangeCondition } from '../../src/engine/types.ts';
import type { NaiveRequest } from '../model/naive-table.ts';
import type { EdgeSource } from './edge-source.ts';
import type { Random } from './random.ts';

/** Returns a request that may select some of `rows`. */
export function requestOf(random: Random, source: EdgeSource, rows: readonly EdgeRow[]): NaiveRequest {
  const request: NaiveRequest = {};
  const time = (): number =>
    rows.length > 0 && random.chance(0.8) ? source.pick(rows).event_ts + random.below(3) - 1 : source.time();
  if (random.chance(0.4)) request.startTs = time();
  if (random.chance(0.4))
    request.endTs = request.startTs !== undefined && random.chance(0.6) ? request.startTs + random.below(200) : time();
  if (rows.length > 0 && 'end_ts' in rows[0]! && random.chance(0.4)) {
    const { event_ts, end_ts } = source.pick(rows);
    request.at = random.chance(0.3) && end_ts !== null ? (end_ts as number) - random.below(2) : time();
    request.at = source.pick([request.at, request.at, event_ts]);
    request.at = Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, request.at));
  }
  if (random.chance(0.45)) {
    request.nodes = [source.node()];
    if (random.chance(0.5) && rows.length > 0)
      request.nodes = source.pick(rows).members.filter(() => random.chance(0.6));
    if (random.chance(0.1)) request.nodes = [...request.nodes, source.wide()];
    if (request.nodes.length === 0) request.nodes = [source.node()];
  }
  if (random.chance(0.4) && rows.length > 0) addRole(request, random, source.pick(rows));
  if (random.chance(0.25) && rows.length > 0) request.where = conditionsOf(random, source, rows);
  if (random.chance(0.35)) request.limit = 1 + random.below(random.chance(0.5) ? 3 : rows.length + 2);
  if (random.chance(0.2) && rows.length > 0) {
    const row = source.pick(rows);
    request.after = { eventTs: row.event_ts, id: Math.max(0, row.id + random.below(3) - 1) };
  }
  return request;
}

/** Asks for texts that rows have in the table's columns, or nearly have. */
export function addTexts(
  request: NaiveRequest,
  random: Random,
  { columns }: Pick<Table, 'columns'>,
  rows: readonly EdgeRow[],
): void {
  const texts = columns.columns.filter(({ type }) => type === 'TEXT');
  if (rows.length === 0 || texts.length === 0) return;
  request.texts = texts
    .filter(() => random.chance(0.6))
    .map(({ id, name }) => {
      const value = rows[random.below(rows.length)]![name];
      const text = typeof value === 'string' ? value : '';
      return { column: id, name, text: random.chance(0.1) ? `${text}a` : text };
    });
}

/** Asks for a member of the row in a role, if its table has roles. */
function addRole(request: NaiveRequest, random: Random, { members, roles }: EdgeRow): void {
  const names = Object.keys(roles ?? {});
  if (names.length === 0) return;
  const role = names[random.below(names.length)]!;
  const list = random.chance(0.8) ? roles![role]! : members;
  const node = list[random.below(list.length)];
  if (node === undefined) return;
  request.nodes = [...new Set([...(random.chance(0.3) ? (request.nodes ?? []) : []), node])];
  request.inRoles = [{ node, role: random.chance(0.1) ? role.toUpperCase() : role }];
}

/** Returns conditions whose bounds are values that occur. */
function conditionsOf(random: Random, source: EdgeSource, rows: readonly EdgeRow[]): RangeCondition[] {
  const columns = ['id', ...Object.keys(source.pick(rows)).slice(3)];
  const conditions: RangeCondition[] = [];
  for (const column of columns) {
    const values = rows.map((row) => row[column]).filter((value) => typeof value === 'number');
    if (values.length === 0 || random.chance(0.5)) continue;
    const condition: RangeCondition = { column: random.chance(0.5) ? column : column.toUpperCase() };
    if (random.chance(0.8)) condition.low = source.pick(values);
    if (random.chance(0.6)) condition.high = random.chance(0.3) ? condition.low : source.pick(values);
    if (random.chance(0.3)) condition.lowInclusive = false;
    if (random.chance(0.3)) condition.highInclusive = false;
    conditions.push(condition);
  }
  return conditions;
}

/** Returns the strategy of a request without conditions on columns. */
export function strategyOf({ nodes, at, startTs, endTs }: NaiveRequest): string {
  const distinct = new Set(nodes).size;
  if (distinct > 0) return distinct > 1 ? 'FMI_INTERSECT' : 'FMI_LOOKUP';
  if (at !== undefined) return 'INTERVAL_STAB';
  return startTs !== undefined || endTs !== undefined ? 'TPI_BUCKET_PUSHDOWN' : 'FULL_SCAN';
}

/** Throws unless a read at a time has its strategy, with any conditions. */
export function checkStrategy(request: NaiveRequest, strategy: string): void {
  if (request.at === undefined || strategy === strategyOf(request)) return;
  throw new Error(`the plan of ${JSON.stringify(request)} is ${strategy}`);
}
