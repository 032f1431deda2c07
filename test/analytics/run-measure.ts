// Runs a measure on edges given as plain objects, and parses the answer from the text that would be
// sent.

import { directionOf } from '../../src/analytics/direction.ts';
import { checkParameters, type ParameterValues } from '../../src/analytics/parameters.ts';
import { WindowProjections } from '../../src/analytics/projections.ts';
import { measureNamed } from '../../src/analytics/registry.ts';
import { resultText } from '../../src/analytics/result-text.ts';
import { type CoreBuild, finish, type IncidenceColumns, loadCore } from '../../src/core/index.ts';
import { RoleSet } from '../../src/model/roles.ts';

export interface PlainEdge {
  id: number;
  event_ts: number;
  members: number[];
  weight?: number | null;
  /** Members by role. */
  roles?: Readonly<Record<string, readonly number[]>>;
}

/** The roles of the edges in tests. */
export const ROLES = new RoleSet(['tail', 'head']);

export interface Answer {
  result: unknown;
  definition: string;
  basis: string | null;
  params: ParameterValues;
}

export function columnsOf(edges: readonly PlainEdge[]): IncidenceColumns {
  const rows = edges
    .map((edge) => ({ ...edge, members: [...new Set(edge.members)].sort((a, b) => a - b) }))
    .sort((a, b) => a.event_ts - b.event_ts || a.id - b.id);
  return {
    times: Float64Array.from(rows, (row) => row.event_ts),
    ids: Float64Array.from(rows, (row) => row.id),
    sizes: Uint32Array.from(rows, (row) => row.members.length),
    members: Float64Array.from(rows.flatMap((row) => row.members)),
    weights: Float64Array.from(rows, (row) => row.weight ?? Number.NaN),
    masks: rows.some(({ roles }) => roles !== undefined) ? Uint16Array.from(rows.flatMap(masksOf)) : undefined,
  };
}

function masksOf({ members, roles = {} }: PlainEdge): number[] {
  return members.map((member) =>
    Object.entries(roles).reduce((mask, [role, list]) => (list.includes(member) ? mask | ROLES.maskOf(role) : mask), 0),
  );
}

/** Runs measures on one set of edges. All measures share the projections of these edges. */
export class MeasuredEdges {
  readonly #projections: WindowProjections;

  constructor(edges: readonly PlainEdge[], bucketSeconds: number, build: CoreBuild = 'release') {
    this.#projections = new WindowProjections(loadCore(build).instantiate(), columnsOf(edges), bucketSeconds);
  }

  run(name: string, given: Record<string, unknown> = {}): Answer {
    const measure = measureNamed(name);
    const params = checkParameters(given, measure.parameters, name);
    const direction = directionOf(params, ROLES);
    const input = { projections: this.#projections, direction, nowMs: () => 0 };
    const { shape, definition, basis } = finish(measure.run(input, params));
    return { result: JSON.parse([...resultText(shape)].join('')), definition, basis, params };
  }
}
