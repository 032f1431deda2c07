// The picture as a table, for users who prefer to read: lists each drawn edge with its members.

import { EdgeTag } from '../edge-tag.tsx';
import { countText } from '../format.ts';
import type { NodeNames } from '../node-names.ts';
import { Scrolling } from '../scrolling.tsx';
import type { Graph } from './graph-model.ts';
import { membersWithRoles, whenText } from './role-words.ts';

const MOST_LISTED = 300;
const MOST_MEMBERS = 64;

interface Props {
  readonly graph: Graph;
  readonly names: NodeNames;
  readonly table: string;
  readonly roleNames: readonly string[];
}

export function EdgeList({ graph, names, table, roleNames }: Props) {
  const { drawn, kind } = graph;
  return (
    <details class="edge-list">
      <summary>The picture as a list</summary>
      <Scrolling label="Edges of the picture">
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">{kind === 'edges' ? 'Members' : 'Busiest nodes that are active'}</th>
              <th scope="col">When</th>
              <th scope="col">Edge</th>
            </tr>
          </thead>
          <tbody>
            {drawn.slice(0, MOST_LISTED).map((edge) => {
              const [first, ...others] = edge.edges;
              return (
                <tr key={edge.key}>
                  <td>{membersWithRoles(edge, names, roleNames, MOST_MEMBERS)}</td>
                  <td>{whenText(edge)}</td>
                  <td>
                    {first?.id !== undefined && <EdgeTag table={table} id={first.id} />}
                    {others.length > 0 && <span class="quiet"> and {others.length} more</span>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scrolling>
      {drawn.length > MOST_LISTED && (
        <p class="quiet">{countText(drawn.length - MOST_LISTED, 'other')} are not listed.</p>
      )}
    </details>
  );
}
