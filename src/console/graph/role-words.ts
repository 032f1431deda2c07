// Writes edges as texts: their members with roles, and when they hold.

import { countText, timeText } from '../format.ts';
import { membersText, type NodeNames, nodeText } from '../node-text.ts';
import type { FoundEdge } from './found-edges.ts';

/** Returns the names of the roles in a mask. */
export function rolesIn(mask: number, roleNames: readonly string[]): string[] {
  return roleNames.filter((_, bit) => ((mask >> bit) & 1) !== 0);
}

type Members = Pick<FoundEdge, 'members' | 'roles'>;

/** Returns the members as `Ada (sender) · Grace (recipient)`, at most `most` of them. */
export function membersWithRoles(
  { members, roles }: Members,
  names: NodeNames,
  roleNames: readonly string[],
  most = Infinity,
): string {
  return membersText(members, names, most, (node, at) => {
    const own = rolesIn(roles?.[at] ?? 0, roleNames);
    return own.length === 0 ? nodeText(names, node) : `${nodeText(names, node)} (${own.join(', ')})`;
  });
}

/** Returns when an edge was, or from when to when it holds; empty without a time. */
export function spanText({ ts, end }: Pick<FoundEdge, 'ts' | 'end'>): string {
  if (ts === undefined) return '';
  return end === undefined ? timeText(ts) : `${timeText(ts)} – ${endText(end)}`;
}

function endText(end: number | null): string {
  return end === null ? 'still holds' : timeText(end);
}

/** Returns the number of edges of a shape, and when they were or hold. */
export function whenText({ edges }: { edges: readonly Pick<FoundEdge, 'ts' | 'end'>[] }): string {
  const when = spanOfAll(edges);
  return countText(edges.length, 'edge') + (when === '' ? '' : `, ${when}`);
}

/** Returns when one edge was or holds, or the days from the first beginning to the last end. */
function spanOfAll(edges: readonly Pick<FoundEdge, 'ts' | 'end'>[]): string {
  const times = edges.flatMap(({ ts }) => ts ?? []);
  if (times.length === 0) return '';
  if (edges.length === 1) return spanText(edges[0]!);
  const ends = edges.map(({ end }) => end);
  const first = times.reduce((least, ts) => Math.min(least, ts));
  if (ends.includes(null)) return `${dayText(first)} – still holds`;
  const last = [...times, ...ends.flatMap((end) => end ?? [])].reduce((most, ts) => Math.max(most, ts));
  if (ends.some((end) => end !== undefined)) return `${dayText(first)} – ${dayText(last)}`;
  return first === last ? timeText(first) : `${dayText(first)} to ${dayText(last)}`;
}

function dayText(ts: number): string {
  return timeText(ts).slice(0, 10);
}
