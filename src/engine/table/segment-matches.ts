// Finds the rows of a segment that match the ranges of a scan: through the sort order of a column
// (PSI) or by checking each row.

import type { NumericRange, RangeSet, ResidentSegment, StepBounds } from '../../core/index.ts';
import { deadOf, type ScanSource, type ScanView } from '../scan/scan-view.ts';
import { matchingRows } from '../texts/block-search.ts';
import { Judge } from '../texts/judge.ts';
import { tagOf } from '../texts/text-tag.ts';
import type { ScanBounds, SearchCondition } from '../types.ts';
import type { SegmentFile } from './segment-file.ts';

/**
 * The matching live rows of one segment, ascending; `next` is the index of the next row to return.
 */
export interface SegmentMatches {
  readonly segment: SegmentFile;
  readonly rows: Uint32Array;
  next: number;
  /** Rows from `next` to before `ready` may be returned. Later rows must be judged first. */
  ready: number;
  /** Judges rows of a segment without a text block for the search. */
  readonly judge: Judge | undefined;
  /**
   * If every row within the bounds was checked (without nodes and sort order): the number of
   * buckets examined, the first bucket and the last.
   */
  readonly looked: { buckets: number; first: number; last: number } | undefined;
  /** Whether the sort order of a column, or the tree of the ends, was used. */
  readonly ordered: boolean;
}

/**
 * Makes `ready` greater than `next`, unless none of the next rows match; a few milliseconds at
 * most. At the end of the rows, both are their number.
 */
export function judgeNext(matches: SegmentMatches, resident: ResidentSegment): void {
  const { judge, rows, ready } = matches;
  if (judge === undefined || matches.next < ready || ready === rows.length) return;
  const { judged, kept } = judge.some(rows.subarray(ready), (list) => resident.recordsOf(list));
  matches.ready = ready + judged;
  matches.next = matches.ready - kept.length;
  rows.set(kept, matches.next);
}

export interface Wanted {
  readonly nodes: readonly number[];
  readonly ranges: RangeSet;
  readonly request: Pick<ScanBounds, 'anyOf' | 'search'>;
  readonly source: ScanSource;
}

/** Up to this many rows of a segment are judged from their texts without asking its text block. */
export const FEW_ROWS = 32;

type Listed = Pick<SegmentMatches, 'rows' | 'looked' | 'ordered'>;

/**
 * Finds the live rows within the bounds that contain all nodes (or one of `anyOf`) and match all
 * ranges. With nodes, checks only the rows that contain them. Without nodes, checks each row within
 * the bounds or, if the sort order of a column finds fewer rows, only those.
 */
export function findMatches(
  segment: SegmentFile,
  resident: ResidentSegment,
  view: ScanView,
  bounds: StepBounds,
  wanted: Wanted,
): SegmentMatches {
  const { source, nodes, request } = wanted;
  const { search } = request;
  const given = (listed: Listed, judge?: Judge): SegmentMatches => {
    return { segment, ...listed, next: 0, ready: judge === undefined ? listed.rows.length : 0, judge };
  };
  if (search === undefined) return given(listMatches(segment, resident, view, bounds, wanted, undefined));
  const [from, to] = rowsWithin(segment, resident, bounds);
  if (nodes.length > 0 || request.anyOf !== undefined || to - from <= FEW_ROWS) {
    // The rarest first: if the others leave few rows, their texts tell sooner than the block.
    const listed = listMatches(segment, resident, view, bounds, wanted, undefined);
    const isFew = listed.rows.length <= FEW_ROWS && search.candidates === undefined;
    const found = isFew ? undefined : foundIn(segment, resident, search, source.nowUs);
    if (found === undefined) return given(listed, new Judge(source.columns, search));
    return given({ ...listed, rows: bothOf(listed.rows, found) });
  }
  const found = foundIn(segment, resident, search, source.nowUs);
  const judge = found === undefined ? new Judge(source.columns, search) : undefined;
  return given(listMatches(segment, resident, view, bounds, wanted, found), judge);
}

/**
 * Lists the rows that match all but a search; of `found`, if it is given, which is only without
 * nodes.
 */
function listMatches(
  segment: SegmentFile,
  resident: ResidentSegment,
  view: ScanView,
  bounds: StepBounds,
  { nodes, ranges, source, request: { anyOf } }: Wanted,
  found: Uint32Array | undefined,
): Listed {
  const [from, to] = rowsWithin(segment, resident, bounds);
  if (anyOf !== undefined) {
    const dead = deadOf(view, segment);
    const rows = source.isOfNodes
      ? resident.keptOf(rowsOfNodes(resident, anyOf, from, to), ranges, dead, view.lsn)
      : resident.listAnyOf(from, to, anyOf, ranges, dead, view.lsn);
    return { rows, looked: undefined, ordered: false };
  }
  if (nodes.length > 0) resident.setNodes(nodes);
  const driver = nodes.length > 0 ? undefined : cheapestIndex(resident, ranges, to - from);
  const dead = deadOf(view, segment);
  if (found !== undefined && nodes.length === 0 && driver === undefined) {
    const inside = found.filter((row) => row >= from && row < to);
    return { rows: resident.keptOf(inside, ranges, dead, view.lsn), looked: undefined, ordered: true };
  }
  const listed = resident.listRows(from, to, nodes.length, ranges, driver, dead, view.lsn);
  const rows = found === undefined ? listed : bothOf(listed, found);
  const ordered = driver !== undefined;
  if (ordered || nodes.length > 0 || from === to) return { rows, looked: undefined, ordered };
  const bucketOf = (row: number): number => Math.floor(resident.keyOf(row).eventTs / source.bucketSeconds);
  const looked = { buckets: resident.bucketsOf(from, to), first: bucketOf(from), last: bucketOf(to - 1) };
  return { rows, looked, ordered };
}

/** Returns the rows [from, to) within bounds of time and id, which need no search if all are. */
function rowsWithin(
  { facts }: SegmentFile,
  resident: ResidentSegment,
  { lowTs, lowId, endTs }: StepBounds,
): [number, number] {
  const isFromFirst = lowTs < facts.timeMin || (lowTs === facts.timeMin && lowId <= facts.firstId);
  return [
    isFromFirst ? 0 : resident.seek(lowTs, lowId),
    endTs >= facts.timeMax ? facts.rows : resident.seek(endTs, Infinity),
  ];
}

/** Returns the rows in which the words are found; undefined if no text block tells. */
function foundIn(
  segment: SegmentFile,
  resident: ResidentSegment,
  search: SearchCondition,
  nowUs: () => number,
): Uint32Array | undefined {
  if (search.candidates !== undefined) return search.candidates.segments.get(segment) ?? NO_ROWS;
  if (segment.facts.textTag !== tagOf(search)) return undefined;
  return matchingRows({ core: resident.core, block: resident.text! }, search.parts, nowUs);
}

const NO_ROWS = new Uint32Array(0);

/** Returns the rows that are in two ascending lists. */
function bothOf(a: Uint32Array, b: Uint32Array): Uint32Array {
  let at = 0;
  return a.filter((row) => {
    while (at < b.length && b[at]! < row) at++;
    return b[at] === row;
  });
}

/** Returns the rows of nodes, whose time and id are their number, ascending. */
function rowsOfNodes(resident: ResidentSegment, numbers: Float64Array, from: number, to: number): Uint32Array {
  const rows = Uint32Array.from(numbers, (number) => resident.find(number, number));
  return rows.filter((row) => row >= from && row < to).sort();
}

/**
 * A sort order is preferred to the tree of the ends only if it finds less than one in this many
 * rows, because the tree gives no count beforehand and mostly finds few rows.
 */
const TREE_SHARE = 256;

function cheapestIndex(resident: ResidentSegment, set: RangeSet, windowRows: number): NumericRange | undefined {
  const held = set.ranges.find(({ nullIsIn }) => nullIsIn);
  if (held === undefined) return cheapestOrder(resident, set, windowRows);
  return cheapestOrder(resident, set, Math.ceil(windowRows / TREE_SHARE)) ?? held;
}

/**
 * Returns the range for which the sort order of its column finds the fewest rows, or undefined if
 * no order finds fewer than `windowRows`.
 */
export function cheapestOrder(
  resident: ResidentSegment,
  { ranges }: RangeSet,
  windowRows: number,
): NumericRange | undefined {
  let least = windowRows;
  let driver: NumericRange | undefined;
  for (const range of ranges) {
    const count = resident.countInOrder(range);
    if (count < 0 || count >= least) continue;
    least = count;
    driver = range;
  }
  return driver;
}
