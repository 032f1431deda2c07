// Defines one row of the benchmark table: our figure, the peer's figure, and the target.

export interface BenchRow {
  name: string;
  ours: number;
  /** Null if there is no peer. */
  peer: number | null;
  unit: string;
  /** Our figure divided by that of the peer. */
  ratio: number | null;
  /** The target as text; empty if there is none. */
  target: string;
  met: boolean | null;
}

export type Target =
  | { ratioAtLeast: number }
  | { ratioAtMost: number }
  | { oursAtMost: number }
  | { oursAtLeast: number };

export interface Figures {
  name: string;
  unit: string;
  ours: number;
  peer?: number;
  target?: Target;
}

export function benchRow({ name, unit, ours, peer, target }: Figures): BenchRow {
  const ratio = peer === undefined ? null : ours / peer;
  return { name, ours, peer: peer ?? null, unit, ratio, ...judge(target, ours, ratio) };
}

function judge(
  target: Target | undefined,
  ours: number,
  ratio: number | null,
): { target: string; met: boolean | null } {
  if (target === undefined) return { target: '', met: null };
  if ('oursAtMost' in target) return { target: `<= ${target.oursAtMost}`, met: ours <= target.oursAtMost };
  if ('oursAtLeast' in target) return { target: `>= ${target.oursAtLeast}`, met: ours >= target.oursAtLeast };
  if (ratio === null) throw new Error('a target on the ratio needs a peer');
  if ('ratioAtLeast' in target) return { target: `ratio >= ${target.ratioAtLeast}`, met: ratio >= target.ratioAtLeast };
  return { target: `ratio <= ${Number(target.ratioAtMost.toFixed(3))}`, met: ratio <= target.ratioAtMost };
}

/** Returns the rows as an aligned text table with a header, one line per row. */
export function tableOf(rows: readonly BenchRow[]): string {
  const cells = rows.map((row) => [
    row.name,
    figure(row.ours),
    row.peer === null ? '-' : figure(row.peer),
    row.unit,
    row.ratio === null ? '-' : row.ratio.toFixed(2),
    row.target,
    row.met === null ? '' : row.met ? 'met' : 'MISSED',
  ]);
  const lines = [['what', 'ours', 'peer', 'unit', 'ratio', 'target', ''], ...cells];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const isNumber = [false, true, true, false, true, false, false];
  return lines
    .map((line) =>
      line
        .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function figure(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const [whole, fraction] = value.toFixed(digits).split('.');
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
