// Shows rows as a table. In its cells null looks different from an empty text, and a long value is
// cut until the user opens it.

import type { QueryRow } from '../../client/index.ts';
import { cellText, countText, timeText } from '../format.ts';
import { named } from '../named.ts';
import { NodeLink, NodeLinks, type NodePlace } from '../node-link.tsx';
import { MOST_NAMES, useNamesCut } from '../node-names.ts';
import { useMemo, useState } from '../preact.ts';
import { nodeTables } from '../state.ts';
import { type ColumnKind, columnKinds } from './column-kinds.ts';
import { orderedColumns } from './column-order.ts';
import type { Result } from './run-statement.ts';

interface Props {
  readonly result: Result;
  /** The rows of the result that are shown. */
  readonly rows: readonly QueryRow[];
  /** Number of rows of the result before these. */
  readonly first: number;
}

export function Grid({ result, rows, first }: Props) {
  const columns = orderedColumns(result);
  const kindTables = nodeTables.value;
  const kinds = useMemo(
    () => columnKinds(result, (table) => named(kindTables, table)?.key.name),
    [result.startedAt, kindTables],
  );
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
              <Cell key={name} value={row[name]} kind={kinds.get(name)} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Shows a note if not all names of a table's nodes are shown. */
export function NamesNote({ result }: { result: Result }) {
  const tables = [...columnKinds(result).values()].flatMap(({ kind, table }) => (kind === 'members' ? [table] : []));
  const isCut = useNamesCut(tables[0] ?? '');
  if (!isCut) return null;
  return (
    <p class="quiet">
      The names of {countText(MOST_NAMES, 'node')} of {tables[0]} are shown, the other nodes by their numbers.
    </p>
  );
}

function Cell({ value, kind }: { value: unknown; kind: ColumnKind | undefined }) {
  const nothing = nothingIn(value);
  if (nothing !== undefined)
    return (
      <td class="quiet">
        <i>{nothing}</i>
      </td>
    );
  const table = kind?.table;
  if (table !== undefined && kind?.kind === 'members' && Array.isArray(value))
    return <MembersCell members={value} table={table} />;
  if (table !== undefined && kind?.kind === 'key')
    return (
      <td>
        <span class="value">
          <NodeLink place={{ table, key: value as NodePlace['key'] }} />
        </span>
      </td>
    );
  const isNumber = typeof value === 'number';
  const time = isNumber && kind?.kind === 'time' ? timeText(value) : undefined;
  return (
    <td class={isNumber ? 'number' : undefined} title={time === undefined ? undefined : `${time} UTC`}>
      <Clipped text={cellText(value)} count={Array.isArray(value) ? value.length : undefined} />
      {time !== undefined && <span class="quiet time-of">{time}</span>}
    </td>
  );
}

/** Number of members of a list that are shown before the user opens it. */
const MOST_MEMBERS = 32;

function MembersCell({ members, table }: { members: readonly unknown[]; table: string }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <td title={typeof members[0] === 'number' ? cellText(members) : undefined}>
      <span class={members.length > MOST_MEMBERS / 4 ? 'value value-long' : 'value'}>
        <NodeLinks members={isWhole ? members : members.slice(0, MOST_MEMBERS)} table={table} />
      </span>
      {members.length > MOST_MEMBERS && (
        <More isWhole={isWhole} all={countText(members.length, 'value')} onClick={() => setWhole(!isWhole)} />
      )}
    </td>
  );
}

/** Returns words for a value without a visible character; undefined for any other value. */
function nothingIn(value: unknown): string | undefined {
  if (value === null || value === undefined) return 'null';
  if (value === '') return 'empty text';
  return Array.isArray(value) && value.length === 0 ? 'empty list' : undefined;
}

/** Number of characters of a value shown before the user opens it. */
const MOST_SHOWN = 240;

/** Values longer than this get a minimum width; other columns would squeeze them otherwise. */
const LONG = 50;

function Clipped({ text, count }: { text: string; count: number | undefined }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= MOST_SHOWN) return <span class={text.length > LONG ? 'value value-long' : 'value'}>{text}</span>;
  const all = count === undefined ? countText(text.length, 'character') : countText(count, 'value');
  return (
    <>
      <span class="value value-long">{isWhole ? text : `${text.slice(0, MOST_SHOWN)} ...`}</span>
      <More isWhole={isWhole} all={all} onClick={() => setWhole(!isWhole)} />
    </>
  );
}

function More({ isWhole, all, onClick }: { isWhole: boolean; all: string; onClick: () => void }) {
  return (
    <button type="button" class="plain more" aria-expanded={isWhole} onClick={onClick}>
      {isWhole ? 'Less' : `All ${all}`}
    </button>
  );
}
