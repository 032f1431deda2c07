// Draws the roles of an edge's members. If the table has two roles, an arrow leads from the nodes
// with the first one to those with the second; otherwise each role has a mark beside its nodes.

import type { DrawnEdge } from './graph-model.ts';
import type { Placement, Point } from './layout.ts';
import { dotAt, headAt, lineBetween, loopAt, markOf, markPlaces, type RoleLine, spokeOf } from './role-lines.ts';

interface Props {
  readonly edge: DrawnEdge;
  readonly placement: Placement;
  readonly radiusOf: (node: number) => number;
  readonly roleNames: readonly string[];
  /** Whether lines from the members to the middle of the edge are drawn already. */
  readonly hasLines: boolean;
  /** Width of the line between two nodes. */
  readonly width: string;
}

const FIRST = 1;
const SECOND = 2;

/** Returns whether the roles of an edge are drawn as one line between two nodes. */
export function isArrow({ members, roles }: DrawnEdge, roleNames: readonly string[]): boolean {
  return roles !== undefined && roleNames.length === 2 && members.length === 2;
}

export function RoleMarks(props: Props) {
  const { edge, placement, radiusOf, roleNames, hasLines } = props;
  if (edge.roles === undefined) return null;
  if (isArrow(edge, roleNames) && !hasLines) return <PairArrow {...props} />;
  const middle = placement.edges.get(edge.key)!;
  return (
    <>
      {edge.members.map((node, at) => {
        const mask = edge.roles![at]!;
        if (mask === 0) return null;
        const place = placement.nodes.get(node)!;
        // In the form with hulls the line between two nodes does not lead over the middle.
        const isLine = edge.members.length === 2 && !hasLines;
        const target = isLine ? placement.nodes.get(edge.members[1 - at]!)! : middle;
        if (roleNames.length !== 2)
          return <Marks key={node} mask={mask} places={markPlaces(place, radiusOf(node), target, roleNames.length)} />;
        const isAlone = edge.members.length === 1;
        const line = isAlone ? loopAt(place, radiusOf(node)) : spokeOf(place, radiusOf(node), middle);
        return (
          <g key={node}>
            {(isAlone || !hasLines) && <path class="role-line" d={line.path} />}
            {isAlone ? <LoopEnds line={line} mask={mask} /> : <End tip={line.start} from={middle} mask={mask} />}
          </g>
        );
      })}
    </>
  );
}

function PairArrow({ edge, placement, radiusOf, width }: Props) {
  const [a, b] = edge.members as [number, number];
  const [maskA, maskB] = edge.roles as [number, number];
  const leads = (from: number, to: number) => (from & FIRST) !== 0 && (to & SECOND) !== 0;
  const bend = Number(leads(maskA, maskB)) - Number(leads(maskB, maskA));
  const places = [placement.nodes.get(a)!, placement.nodes.get(b)!] as const;
  const line = lineBetween(places[0], places[1], [radiusOf(a), radiusOf(b)], bend as -1 | 0 | 1);
  return (
    <>
      <path class="edge-reach" d={line.path} />
      <path class="role-line" d={line.path} stroke-width={width} />
      <End tip={line.start} from={line.towardsStart} mask={maskA} />
      <End tip={line.end} from={line.towardsEnd} mask={maskB} />
    </>
  );
}

/** The end of a line at a node: a dot where an arrow begins, a head where it leads to. */
function End({ tip, from, mask }: { tip: Point; from: Point; mask: number }) {
  const isTarget = (mask & SECOND) !== 0;
  const dot = dotAt(tip, from, isTarget);
  return (
    <>
      {isTarget && <path class="role-head" d={headAt(tip, from)} />}
      {(mask & FIRST) !== 0 && <circle class="role-dot" cx={dot.x.toFixed(1)} cy={dot.y.toFixed(1)} r="3.2" />}
    </>
  );
}

function LoopEnds({ line, mask }: { line: RoleLine; mask: number }) {
  return (
    <>
      <End tip={line.start} from={line.towardsStart} mask={mask & FIRST} />
      <End tip={line.end} from={line.towardsEnd} mask={mask & SECOND} />
    </>
  );
}

function Marks({ mask, places }: { mask: number; places: readonly Point[] }) {
  const bits = places.flatMap((_, bit) => (((mask >> bit) & 1) !== 0 ? [bit] : []));
  return (
    <>
      {bits.map((bit, at) => {
        const { path, look } = markOf(bit, places[at]!);
        return <path key={bit} class={look} d={path} />;
      })}
    </>
  );
}

/** Explains the arrows or the marks. */
export function RoleLegend({ roleNames }: { roleNames: readonly string[] }) {
  const [first, second] = roleNames;
  return (
    <ul class="plain-list legend" aria-label="Roles">
      {roleNames.length === 2 ? (
        <li>
          <svg class="swatch swatch-wide" viewBox="-4 -8 44 16" aria-hidden="true">
            <path class="role-line" d="M2 0L36 0" />
            <End tip={{ x: 0, y: 0 }} from={{ x: 36, y: 0 }} mask={FIRST} />
            <End tip={{ x: 38, y: 0 }} from={{ x: 0, y: 0 }} mask={SECOND} />
          </svg>
          from {first} to {second}
        </li>
      ) : (
        roleNames.map((name, bit) => {
          const { path, look } = markOf(bit, { x: 0, y: 0 });
          return (
            <li key={name}>
              <svg class="swatch" viewBox="-8 -8 16 16" aria-hidden="true">
                <path class={look} d={path} />
              </svg>
              {name}
            </li>
          );
        })
      )}
    </ul>
  );
}
