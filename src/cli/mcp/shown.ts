// Rows as a model reads them: times in ISO 8601 beside seconds, names of nodes beside their
// numbers.

/** Any row with fields by name. */
export type Shown = Record<string, unknown>;

/** UTC; null: there is none, or none that the calendar knows. */
export function timeText(seconds: unknown): string | null {
  const date = new Date(typeof seconds === 'number' ? seconds * 1000 : Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace('.000Z', 'Z');
}

/**
 * An edge with its `time` after `event_ts`, and `names` after `members` where a member has one
 * (null: this one has none).
 */
export function shownEdge(edge: object, names: ReadonlyMap<number, string>): Shown {
  const shown: Shown = {};
  for (const [field, value] of Object.entries(edge)) {
    shown[field] = value;
    if (field === 'event_ts' && !('time' in edge)) shown.time = timeText(value);
    if (field !== 'members' || 'names' in edge || !Array.isArray(value)) continue;
    if (value.some((node) => names.has(node))) shown.names = value.map((node) => names.get(node) ?? null);
  }
  return shown;
}

export function membersOf(edges: readonly object[]): number[] {
  return edges.flatMap((edge) => ('members' in edge && Array.isArray(edge.members) ? (edge.members as number[]) : []));
}

/** As JSON has it: by the number as text, in the order of the numbers. */
export function namesObject(names: ReadonlyMap<number, string>): Record<string, string> {
  return Object.fromEntries([...names].sort(([a], [b]) => a - b));
}
