// Turns the conditions on one pattern into index accesses, texts and a remaining filter.
//
// One access ("way") is a conjunction that a scan answers exactly: a time window, nodes that every
// row must contain, and ranges of numeric columns. There are three outcomes for a condition:
// - taken: the condition becomes part of the bounds. It compares `event_ts`, a bucket or a numeric
//   column with a constant, or is `node IN members` or `node IN role`, or reads no row and is
//   true, or is an AND of these. An id counts as a numeric column.
// - nothing: the condition cannot be true, so the pattern has no rows.
// - left: the condition remains as a filter on each row.
//
// One condition may become a union: the first OR whose branches the indexes can all answer, or IN
// over times, buckets or ids. A union has one way per branch, each intersected with the bounds of
// the other conditions. Together the ways cover all rows that can match. `instead` is the same
// access without the union; the planner chooses the one that reads fewer buckets.
//
// Example: the conditions `e.event_ts >= 100 AND (1 IN e.members OR 2 IN e.members)` give two ways,
// [100, max] with node 1 and [100, max] with node 2. A further condition `e.room <> 'x'` remains
// as a filter.
//
// A condition such as `e.room = 'x'` is left by the indexes, but it is a text: the core checks it
// on the rows of each way, so that the others are not copied out. It does not choose a way.

import { nodeNumber, type RangeCondition, type RoleCondition, type Table } from '../../engine/index.ts';
import { isWellFormed } from '../../model/text.ts';
import type {
  BoundComparison,
  BoundExpression,
  BoundField,
  BoundHasNode,
  BoundPattern,
  BoundSearch,
  Value,
} from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { flipped } from '../executor/values/compare.ts';
import { partsOfSearch } from '../executor/values/searches.ts';
import { fixedValue } from './fixed-values.ts';
import { patternsOf } from './patterns-of.ts';
import type { PlannedSearch, TextEquality } from './plan.ts';

const MAX = Number.MAX_SAFE_INTEGER;
/** Maximum number of branches of an OR or IN that are each answered by an index access. */
const MOST_BRANCHES = 64;
/** Maximum number of keys in an IN that are looked up to find nodes. */
const MOST_KEYS = 4096;
/**
 * Maximum number of UTF-16 units of a text that the core compares. Each segment in memory keeps a
 * copy of the text.
 */
const MOST_TEXT_UNITS = 1024;

/** The bounds of one access to the indexes of a table. All of them must hold. */
export interface Bounds {
  startTs: number;
  endTs: number;
  /** A time at which the edges hold. They have then begun: `endTs` is not above it. */
  at: number | undefined;
  nodes: Set<number>;
  ranges: RangeCondition[];
  /** Roles that nodes of `nodes` must have. */
  inRoles: RoleCondition[];
}

/**
 * The access to one pattern. The ways together cover all rows that can match. The filter is checked
 * on each row.
 */
export interface Access {
  readonly ways: readonly Bounds[];
  /** Texts of columns, at most one of each. They are checked on each row. */
  readonly texts: readonly TextEquality[];
  /** The first search. The scan returns the rows in which its words are found, and no others. */
  readonly search: PlannedSearch | undefined;
  readonly filter: readonly BoundExpression[];
  /**
   * The alternative to several ways: a single way that covers them all. The condition that became
   * the union is then a filter.
   */
  readonly instead: Access | undefined;
}

const NOTHING: Access = { ways: [], texts: [], search: undefined, filter: [], instead: undefined };

/**
 * Returns the access for `conditions`, which read no other pattern. If the access has no ways, no
 * row can match. Keys of nodes are looked up in the state at `lsn`, or in the newest.
 */
export function accessOf(
  pattern: BoundPattern,
  conditions: readonly BoundExpression[],
  parameters: ParameterValues,
  lsn: number | undefined,
): Access {
  const reader = new AccessReader(parameters, pattern.table, lsn);
  const bounds = reader.begin(pattern);
  if (bounds === undefined) return NOTHING;
  const texts: TextEquality[] = [];
  const filter: BoundExpression[] = [];
  let search: PlannedSearch | undefined;
  let union: { condition: BoundExpression; ways: Bounds[] } | undefined;
  for (const condition of conditions) {
    const outcome = reader.take(condition, bounds);
    if (outcome === 'nothing') return NOTHING;
    if (outcome === 'taken') continue;
    const text = reader.text(condition);
    if (text !== undefined && !texts.some(({ column }) => column === text.column)) {
      texts.push(text);
      continue;
    }
    if (condition.kind === 'search' && search === undefined) {
      search = plannedSearch(condition, parameters);
      continue;
    }
    const ways = union === undefined ? reader.union(condition) : undefined;
    if (ways === undefined) filter.push(condition);
    else union = { condition, ways };
  }
  if (!canMatch(bounds)) return NOTHING;
  if (union === undefined) return { ways: [bounds], texts, search, filter, instead: undefined };
  const ways = merged(union.ways.map((way) => both(bounds, way)).filter(canMatch));
  const instead = { ways: [bounds], texts, search, filter: [...filter, union.condition], instead: undefined };
  return { ways, texts, search, filter, instead: ways.length > 1 ? instead : undefined };
}

function plannedSearch(expression: BoundSearch, parameters: ParameterValues): PlannedSearch {
  const { fields, language } = expression;
  const columns = fields.map(({ field }) => (field as { id: number }).id);
  return { expression, columns, language, parts: partsOfSearch(expression, parameters) };
}

/** Merges windows that touch and have no other bounds, as those of `event_ts IN [5, 6]`. */
function merged(ways: readonly Bounds[]): Bounds[] {
  const plain = ways.filter(isWindow).sort((a, b) => a.startTs - b.startTs);
  const windows: Bounds[] = [];
  for (const way of plain) {
    const last = windows[windows.length - 1];
    if (last !== undefined && way.startTs <= last.endTs + 1) last.endTs = Math.max(last.endTs, way.endTs);
    else windows.push(way);
  }
  return [...windows, ...ways.filter((way) => !isWindow(way))];
}

function isWindow({ at, nodes, ranges }: Bounds): boolean {
  return at === undefined && nodes.size === 0 && ranges.length === 0;
}

/** Maximum number of members of an edge. */
const MOST_NODES = 255;

function canMatch({ startTs, endTs, nodes }: Bounds): boolean {
  return startTs <= endTs && nodes.size <= MOST_NODES;
}

function isTimeBounded(bounds: Bounds): boolean {
  return bounds.startTs > -MAX || bounds.endTs < MAX;
}

function everything(): Bounds {
  return { startTs: -MAX, endTs: MAX, at: undefined, nodes: new Set(), ranges: [], inRoles: [] };
}

function both(a: Bounds, b: Bounds): Bounds {
  return {
    startTs: Math.max(a.startTs, b.startTs),
    endTs: Math.min(a.endTs, b.endTs),
    at: laterOf(a.at, b.at),
    nodes: new Set([...a.nodes, ...b.nodes]),
    ranges: [...a.ranges, ...b.ranges],
    inRoles: [...a.inRoles, ...b.inRoles],
  };
}

/**
 * Returns the later of two times. Edges that have begun by the earlier one and hold at the later
 * one hold at both.
 */
function laterOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.max(a, b);
}

type Outcome = 'taken' | 'left' | 'nothing';

class AccessReader {
  readonly #parameters: ParameterValues;
  readonly #table: Table;
  readonly #lsn: number | undefined;
  /**
   * Windows and ranges of ids that were computed, by list: the same list may occur in many
   * conditions.
   */
  readonly #windows = new Map<readonly Value[], readonly [first: number, last: number][] | undefined>();

  constructor(parameters: ParameterValues, table: Table, lsn: number | undefined) {
    this.#parameters = parameters;
    this.#table = table;
    this.#lsn = lsn;
  }

  /** Returns bounds with the nodes of MEMBERS, or undefined if no row can match. */
  begin(pattern: BoundPattern): Bounds | undefined {
    const bounds = everything();
    if (pattern.members === undefined) return bounds;
    const nodes =
      'kind' in pattern.members
        ? (fixedValue(pattern.members, this.#parameters, this.#lsn) as readonly Value[])
        : pattern.members.map((item) => fixedValue(item, this.#parameters, this.#lsn));
    for (const node of nodes) {
      // In a named table, 0 stands for a key that no node has.
      if (node === null || (node === 0 && pattern.table.kinds !== undefined)) return undefined;
      // One node more than an edge can have is enough to show that no row can match. A Set of very
      // many numbers that a client chose could take seconds.
      if (bounds.nodes.size <= MOST_NODES) bounds.nodes.add(node as number);
    }
    return bounds;
  }

  /** Adds a condition to the bounds if an index answers it exactly. */
  take(condition: BoundExpression, bounds: Bounds): Outcome {
    if (patternsOf(condition) === 0) return this.#takeConstant(condition);
    if (condition.kind === 'hasNode') return this.#takeNode(condition, bounds);
    if (condition.kind === 'compare') return this.#takeComparison(condition, bounds);
    if (condition.kind === 'and' && condition.holds !== undefined) return this.#takeHeld(condition.holds.time, bounds);
    if (condition.kind === 'and') return this.#takeAll(condition.items, bounds);
    return 'left';
  }

  #takeConstant(condition: BoundExpression): Outcome {
    return fixedValue(condition, this.#parameters, this.#lsn) === true ? 'taken' : 'nothing';
  }

  /** Ends are integers, so a fraction of a second makes no difference. */
  #takeHeld(time: BoundExpression, bounds: Bounds): Outcome {
    const value = fixedValue(time, this.#parameters, this.#lsn);
    if (typeof value !== 'number' || value < -MAX) return 'nothing';
    const at = Math.min(MAX, Math.floor(value));
    bounds.endTs = Math.min(bounds.endTs, at);
    bounds.at = laterOf(bounds.at, at);
    return bounds.startTs > bounds.endTs ? 'nothing' : 'taken';
  }

  #takeAll(items: readonly BoundExpression[], bounds: Bounds): Outcome {
    const trial = both(bounds, everything());
    for (const item of items) {
      const outcome = this.take(item, trial);
      if (outcome !== 'taken') return outcome;
    }
    Object.assign(bounds, trial);
    return 'taken';
  }

  #takeNode({ node, role }: BoundHasNode, bounds: Bounds): Outcome {
    if (patternsOf(node) !== 0) return 'left';
    const value = fixedValue(node, this.#parameters, this.#lsn);
    if (!Number.isSafeInteger(value) || (value === 0 && node.kind === 'node')) return 'nothing';
    bounds.nodes.add(value as number);
    if (role !== undefined) bounds.inRoles.push({ node: value as number, role });
    return 'taken';
  }

  #takeComparison(condition: BoundComparison, bounds: Bounds): Outcome {
    const turned = patternsOf(condition.left) === 0;
    const side = turned ? condition.right : condition.left;
    const other = turned ? condition.left : condition.right;
    if (patternsOf(other) !== 0) return 'left';
    const operator = turned ? flipped(condition.operator) : condition.operator;
    const isTime = side.kind === 'field' && side.field.kind === 'event_ts';
    const isKey = operator === '=' && this.#isKey(side);
    if (!isTime && !isKey && side.kind !== 'bucket' && !isNumericProperty(side, this.#table) && !isId(side))
      return 'left';
    const value = fixedValue(other, this.#parameters, this.#lsn);
    if (value === null) return 'nothing';
    if (operator === '<>') return 'left';
    if (isKey) return this.#takeKey(value, bounds);
    if (isTime) return takeTime(operator, value as number, 1, bounds);
    if (side.kind === 'bucket') return takeTime(operator, value as number, side.bucketSeconds, bounds);
    bounds.ranges.push(rangeOf(side as BoundField, operator, value as number));
    return 'taken';
  }

  /**
   * Returns the condition if it compares a TEXT column with a constant text that may be stored.
   * Other texts are left to the filter, which gives them their meaning.
   */
  text(condition: BoundExpression): TextEquality | undefined {
    if (condition.kind !== 'compare' || condition.operator !== '=') return undefined;
    const { left, right } = condition;
    const [side, other] = left.kind === 'field' ? [left, right] : [right, left];
    if (side.kind !== 'field' || side.field.kind !== 'property' || side.type !== 'text') return undefined;
    if (other.kind !== 'constant' && other.kind !== 'parameter') return undefined;
    const text = fixedValue(other, this.#parameters, this.#lsn);
    if (typeof text !== 'string' || text.length > MOST_TEXT_UNITS || !isWellFormed(text)) return undefined;
    return { column: side.field.id, text, expression: condition };
  }

  /**
   * Whether an expression is the key of a node, which is found by its number, the time of its row.
   */
  #isKey(side: BoundExpression): boolean {
    return side.kind === 'field' && side.field.kind === 'property' && side.field.id === this.#table.definition.key;
  }

  #numberOf(key: Value): number {
    return nodeNumber(this.#table, key, this.#lsn ?? Number.POSITIVE_INFINITY);
  }

  #takeKey(key: Value, bounds: Bounds): Outcome {
    const number = this.#numberOf(key);
    return number === 0 ? 'nothing' : takeTime('=', number, 1, bounds);
  }

  /**
   * Returns several ways for an OR of conditions that an index can answer, or for IN with a time, a
   * bucket or an id as its operand. Returns undefined if the condition must be a filter.
   */
  union(condition: BoundExpression): Bounds[] | undefined {
    if (condition.kind === 'or') return this.#unionOf(condition.items);
    if (condition.kind !== 'in') return undefined;
    const { operand, items } = condition;
    const isTime = operand.kind === 'field' && operand.field.kind === 'event_ts';
    const isKey = this.#isKey(operand);
    if (!isTime && !isKey && operand.kind !== 'bucket' && !isId(operand)) return undefined;
    const width = operand.kind === 'bucket' ? operand.bucketSeconds : 1;
    const values =
      'kind' in items
        ? (fixedValue(items, this.#parameters, this.#lsn) as readonly Value[])
        : items.every((item) => patternsOf(item) === 0)
          ? items.map((item) => fixedValue(item, this.#parameters, this.#lsn))
          : undefined;
    if (isKey) return values && this.#keysOf(values);
    return values && (isId(operand) ? this.#idsOf(values) : this.#windowsOf(values, width));
  }

  /** Returns the windows of the nodes with these keys, or undefined if there are too many. */
  #keysOf(keys: readonly Value[]): Bounds[] | undefined {
    if (keys.length > MOST_KEYS) return undefined;
    const numbers = keys.map((key) => this.#numberOf(key)).filter((number) => number !== 0);
    return this.#windowsOf(numbers, 1);
  }

  /** Returns the ranges of ids, or undefined if there are too many. */
  #idsOf(ids: readonly Value[]): Bounds[] | undefined {
    return this.#merged(ids)?.map(([low, high]) => ({ ...everything(), ranges: [{ column: 'id', low, high }] }));
  }

  /**
   * Returns the windows of buckets, with adjacent ones merged, or undefined if there are too many.
   */
  #windowsOf(buckets: readonly Value[], width: number): Bounds[] | undefined {
    return this.#merged(buckets)?.map(([first, last]) => ({
      ...everything(),
      startTs: first * width,
      endTs: last * width + width - 1,
    }));
  }

  #merged(values: readonly Value[]): readonly [first: number, last: number][] | undefined {
    let ranges = this.#windows.get(values);
    if (ranges === undefined && !this.#windows.has(values)) {
      ranges = mergedBuckets(values);
      this.#windows.set(values, ranges);
    }
    return ranges;
  }

  #unionOf(items: readonly BoundExpression[]): Bounds[] | undefined {
    if (items.length > MOST_BRANCHES) return undefined;
    const ways: Bounds[] = [];
    for (const item of items) {
      const bounds = everything();
      const outcome = this.take(item, bounds);
      if (outcome === 'left') {
        const inner = this.union(item);
        if (inner === undefined || ways.length + inner.length > MOST_BRANCHES) return undefined;
        ways.push(...inner);
        continue;
      }
      if (outcome === 'nothing' || bounds.startTs > bounds.endTs) continue;
      if (!isTimeBounded(bounds) && bounds.nodes.size === 0 && bounds.ranges.length === 0) return undefined;
      ways.push(bounds);
    }
    return ways;
  }
}

/**
 * Returns the integers of a list as ascending ranges, or undefined if there are too many ranges.
 */
function mergedBuckets(values: readonly Value[]): [first: number, last: number][] | undefined {
  const buckets = Float64Array.from(values.filter(Number.isSafeInteger) as number[]).sort();
  const ranges: [number, number][] = [];
  for (const bucket of buckets) {
    const last = ranges[ranges.length - 1];
    if (last !== undefined && bucket <= last[1] + 1) last[1] = bucket;
    else if (ranges.push([bucket, bucket]) > MOST_BRANCHES) return undefined;
  }
  return ranges;
}

/** A column of a node table may be called `id`, which the engine takes for the id of a row. */
function isNumericProperty(
  side: BoundExpression,
  { isOfNodes }: Table,
): side is Extract<BoundExpression, { kind: 'field' }> {
  if (side.kind !== 'field' || side.field.kind !== 'property') return false;
  if (isOfNodes && side.field.name.toLowerCase() === 'id') return false;
  return side.type === 'integer' || side.type === 'real';
}

function isId(side: BoundExpression): side is Extract<BoundExpression, { kind: 'field' }> {
  return side.kind === 'field' && side.field.kind === 'id';
}

/**
 * Adds `floor(event_ts / width) operator value` to the bounds on the time. With width 1, the time
 * itself is compared. The value may be fractional.
 */
function takeTime(operator: BoundComparison['operator'], value: number, width: number, bounds: Bounds): Outcome {
  let low = Number.NEGATIVE_INFINITY;
  let high = Number.POSITIVE_INFINITY;
  switch (operator) {
    case '=':
      if (!Number.isInteger(value)) return 'nothing';
      low = value;
      high = value;
      break;
    case '<':
      high = Math.ceil(value) - 1;
      break;
    case '<=':
      high = Math.floor(value);
      break;
    case '>':
      low = Math.floor(value) + 1;
      break;
    default:
      low = Math.ceil(value);
  }
  bounds.startTs = Math.max(bounds.startTs, low * width);
  bounds.endTs = Math.min(bounds.endTs, high * width + (width - 1));
  return bounds.startTs > bounds.endTs ? 'nothing' : 'taken';
}

function rangeOf(
  side: Extract<BoundExpression, { kind: 'field' }>,
  operator: BoundComparison['operator'],
  value: number,
): RangeCondition {
  const column = side.field.kind === 'property' ? side.field.name : 'id';
  switch (operator) {
    case '=':
      return { column, low: value, high: value };
    case '<':
      return { column, high: value, highInclusive: false };
    case '<=':
      return { column, high: value };
    case '>':
      return { column, low: value, lowInclusive: false };
    default:
      return { column, low: value };
  }
}
