// A read whose rows the core writes as JSON text. It returns whole rows of one pattern, or columns
// of that pattern in the order in which the core writes them, and needs no further filter or
// computation.

import type { Scan, ScanRequest } from '../engine/index.ts';
import { type AskedMembers, membersAreObjects } from './executor/values/shown-members.ts';
import type { AccessPath, MatchPlan, ScanPlan, Strategy } from './planner/plan.ts';
import type { MatchShape } from './planner/shape.ts';
import type { ReadView } from './read.ts';
import type { QueryPlanFigures } from './result.ts';
import type { ResultType } from './result-types.ts';

/** `json`: rows are separated by commas; `ndjson`: a newline follows each row. */
export type RowFormat = 'json' | 'ndjson';

/**
 * Returns the access path whose rows are the result unchanged. Returns undefined if anything other
 * than writing the rows remains to be done.
 */
export function writtenPath({ written }: MatchShape, plan: MatchPlan): AccessPath | undefined {
  const { input, order, skip, limit } = plan;
  if (written === undefined || input.op !== 'scan' || input.paths.length !== 1) return undefined;
  const isInOrder = order === 'none' || order === 'index';
  return isInOrder && input.filter.length === 0 && skip === 0 && limit !== 0 ? input.paths[0] : undefined;
}

// One such object is made for every read of this kind, so its fields are plain properties, which
// are cheap to set. The caller must read it to the end or close it.
export class WrittenRead {
  readonly columns: readonly string[];
  readonly columnTypes: readonly ResultType[];
  /** The log position that the rows reflect. */
  readonly lsn: number;
  readonly table: string;
  readonly strategy: Strategy;
  private readonly scan: Scan;
  private readonly format: RowFormat;
  /** Text before each row; see `WrittenRows` (planner/shape.ts). */
  private readonly before: Uint8Array | undefined;
  private readonly view: ReadView;
  private readonly totalBuckets: number;
  private readonly nowUs: () => number;
  private readonly startUs: number;
  private endUs: number;

  constructor(
    shape: MatchShape,
    path: AccessPath,
    format: RowFormat,
    plan: MatchPlan,
    { view, nowUs, startUs, members }: { view: ReadView; nowUs: () => number; startUs: number; members: AskedMembers },
  ) {
    const { table } = shape.match.patterns[0]!;
    const { rowPlan, before, marked } = shape.written!;
    const isMarked = marked !== undefined && members !== 'numbers';
    const form = membersAreObjects(table, members) ? 'objects' : 'keys';
    this.columns = shape.columns;
    this.columnTypes = shape.columnTypes;
    this.format = format;
    this.before = before === undefined ? undefined : Buffer.from(before);
    this.lsn = view.lsn;
    this.table = table.name;
    this.strategy = plan.strategy;
    this.view = view;
    const { totalBuckets, texts, search } = plan.input as ScanPlan;
    this.totalBuckets = totalBuckets;
    this.nowUs = nowUs;
    this.startUs = startUs;
    this.endUs = 0;
    const { startTs, endTs, at, nodes, ranges, inRoles } = path;
    const request: ScanRequest = {
      startTs,
      endTs,
      at,
      nodes: nodes.length === 0 ? undefined : nodes,
      where: ranges.length === 0 ? undefined : ranges,
      inRoles,
      texts: texts.length === 0 ? undefined : texts,
      search,
      limit: plan.limit,
      // Rows that are wrapped must each end with a newline, by which `wrapped` finds their ends.
      format: before === undefined ? format : 'ndjson',
      rows: isMarked ? marked : rowPlan,
      keys: isMarked ? form : undefined,
    };
    this.scan = table.scan(request, view.snapshotOf(table), view.overlayOf(table));
  }

  /**
   * Returns the text of the next rows, which may be empty, or null at the end. The text is valid
   * until the engine is called again. Takes a few ms at most.
   */
  next(): Uint8Array | null {
    const given = this.scan.rows;
    const text = this.scan.borrowNext();
    if (text === null) this.close();
    if (text === null || this.before === undefined) return text;
    return wrapped(text, this.scan.rows - given, this.before, this.format, given === 0);
  }

  /** True when the last rows have been returned. */
  get isEnded(): boolean {
    return this.scan.isEnded;
  }

  /** Rows written so far. */
  get rows(): number {
    return this.scan.rows;
  }

  /** The figures are complete only after the end. */
  plan(): QueryPlanFigures {
    const scanned = Math.min(this.scan.plan().buckets_scanned, this.totalBuckets);
    return {
      strategy: this.strategy,
      buckets_scanned: scanned,
      total_buckets: this.totalBuckets,
      speedup_factor: this.totalBuckets / Math.max(1, scanned),
      elapsed_us: Math.round((this.endUs || this.nowUs()) - this.startUs),
    };
  }

  /** A second call does nothing. */
  close(): void {
    if (this.endUs > 0) return;
    this.endUs = this.nowUs();
    this.scan.close();
    this.view.release();
  }
}

const NEWLINE = 10;
const COMMA = 44;
const BRACE = 125;

/**
 * Puts `before` in front of each row and a closing brace after it, and separates or ends the rows
 * as `format` requires. `first` means that no rows were written earlier.
 */
function wrapped(lines: Uint8Array, rows: number, before: Uint8Array, format: RowFormat, first: boolean): Uint8Array {
  const from = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  const text = Buffer.allocUnsafe(lines.length + rows * (before.length + 1));
  let length = 0;
  for (let at = 0; at < lines.length; ) {
    const end = from.indexOf(NEWLINE, at);
    if (format === 'json' && !(first && at === 0)) text[length++] = COMMA;
    for (let i = 0; i < before.length; i++) text[length++] = before[i]!;
    length += from.copy(text, length, at, end);
    text[length++] = BRACE;
    if (format === 'ndjson') text[length++] = NEWLINE;
    at = end + 1;
  }
  return text.subarray(0, length);
}
