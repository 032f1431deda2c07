// Rows as a table, and values in its cells: null is told from an empty text, and long values are cut until they are asked for.

import type { QueryRow } from '../../client/index.ts';
import { cellText, countText, timeText } from '../format.ts';
import { membersText, type NodeNames, useNodeNames } from '../node-names.ts';
import { useState } from '../preact.ts';

/** `first`: how many rows stand before these. */
export function Grid({
  columns,
  rows,
  first = 0,
}: {
  columns: readonly string[];
  rows: readonly QueryRow[];
  first?: number;
}) {
  const names = useNodeNames();
  return (
    <table class="grid">
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={first + at}>
            {columns.map((name) => (
              <Cell key={name} name={name} value={row[name]} names={names} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({ name, value, names }: { name: string; value: unknown; names: NodeNames }) {
  const isNumber = typeof value === 'number';
  const isTime = isNumber && /(^|\.)event_ts$/.test(name);
  const isMembers = names.size > 0 && /(^|\.)members$/.test(name) && Array.isArray(value);
  const title = isTime ? `${timeText(value)} UTC` : isMembers ? cellText(value) : undefined;
  const nothing = nothingIn(value);
  if (nothing !== undefined)
    return (
      <td class="quiet">
        <i>{nothing}</i>
      </td>
    );
  return (
    <td class={isNumber ? 'number' : undefined} title={title}>
      <Clipped
        text={isMembers ? membersText(value, names) : cellText(value)}
        count={Array.isArray(value) ? value.length : undefined}
      />
      {isTime && <span class="quiet time-of">{timeText(value)}</span>}
    </td>
  );
}

/** Values without a character to show are told apart in words. */
function nothingIn(value: unknown): string | undefined {
  if (value === null || value === undefined) return 'null';
  if (value === '') return 'empty text';
  return Array.isArray(value) && value.length === 0 ? 'empty list' : undefined;
}

/** Characters of a value that are shown at first. */
const MOST_SHOWN = 240;

/** Longer ones are given room, or the other columns would press them into a narrow strip. */
const LONG = 50;

function Clipped({ text, count }: { text: string; count: number | undefined }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= MOST_SHOWN) return <span class={text.length > LONG ? 'value value-long' : 'value'}>{text}</span>;
  const all = count === undefined ? countText(text.length, 'character') : countText(count, 'value');
  return (
    <>
      <span class="value value-long">{isWhole ? text : `${text.slice(0, MOST_SHOWN)} ...`}</span>
      <button type="button" class="plain more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
        {isWhole ? 'Less' : `All ${all}`}
      </button>
    </>
  );
}
