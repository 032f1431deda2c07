// The nodes that share the most edges of one table with a node.

import { Failure } from '../failure.tsx';
import { countText } from '../format.ts';
import { NodeLink } from '../node-link.tsx';
import { nodeText, useNodeNames } from '../node-names.ts';
import { useEffect, useState } from '../preact.ts';
import { MOST_COUNTED, type Neighbour, neighboursOf, type Presence } from './presence.ts';

const MOST = 20;

export function Neighbours({ presence }: { presence: Presence }) {
  const { table, edges } = presence;
  const [found, setFound] = useState<readonly Neighbour[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const names = useNodeNames(table.name);
  useEffect(() => {
    let isGone = false;
    neighboursOf(presence, MOST).then(
      (neighbours) => !isGone && setFound(neighbours),
      (failed) => !isGone && setError(failed),
    );
    return () => {
      isGone = true;
    };
  }, [presence]);
  if (error !== undefined) return <Failure error={error} title="The neighbours cannot be listed" />;
  if (found === undefined) return <p class="waiting">Looking for its neighbours ...</p>;
  const isCut = table.nodes === 'numbers' && edges > MOST_COUNTED;
  const hasKinds = table.nodes === 'named' && table.member_tables.length > 1;
  return (
    <div>
      <h4>Shares most edges with</h4>
      {found.length === 0 && <p class="quiet">It is alone in its edges.</p>}
      <table class="columns" aria-label={`Neighbours in ${table.name}`}>
        <tbody>
          {found.map(({ place, edges: shared }) => (
            <tr key={`${place.table} ${place.key}`}>
              <th scope="row">
                <NodeLink
                  place={place}
                  text={
                    table.nodes === 'numbers' && typeof place.key === 'number' ? nodeText(names, place.key) : undefined
                  }
                />
                {hasKinds && <span class="quiet"> {place.table}</span>}
              </th>
              <td class="quiet">{countText(shared, 'edge')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && <p class="quiet">Counted in its newest {countText(MOST_COUNTED, 'edge')}.</p>}
      {found.length === MOST && <p class="quiet">The first {MOST} are listed.</p>}
    </div>
  );
}
