// The list of node tables at the left, with their columns.

import type { NodeTable } from '../client/index.ts';
import { NameButton } from './catalog.tsx';
import { countText } from './format.ts';
import { useState } from './preact.ts';
import { hasColumn, indexes, nodeTables, openView, wantedStatement } from './state.ts';
import { quoted } from './statement-words.ts';

export function NodeTables() {
  const [chosen, setChosen] = useState('');
  return (
    <ul class="plain-list catalog-list">
      {nodeTables.value.map((table) => (
        <li key={table.name}>
          <button
            type="button"
            class="entry"
            aria-pressed={chosen === table.name}
            title={`Show the nodes of ${table.name} as rows`}
            onClick={() => {
              setChosen(table.name);
              showNodes(table);
            }}
          >
            <span>{table.name}</span>
            <span class="quiet">{countText(table.row_count, 'node')}</span>
          </button>
          {chosen === table.name && <Columns table={table} />}
        </li>
      ))}
    </ul>
  );
}

function showNodes({ name, key }: NodeTable): void {
  wantedStatement.value = `MATCH (n:${quoted(name)})\nRETURN *\nORDER BY n.${quoted(key.name)}\nLIMIT 200`;
  openView('query');
}

function Columns({ table: { name, key, columns } }: { table: NodeTable }) {
  const own = indexes.value.filter((index) => index.table === name);
  return (
    <div class="entry-more">
      <table class="columns">
        <caption class="sr-only">Columns of {name}</caption>
        <tbody>
          {[key, ...columns].map((column, at) => (
            <tr key={column.name}>
              <th scope="row">
                <NameButton label={column.name} name={{ table: name, column: column.name }} />
              </th>
              <td class="quiet">
                {column.type} {at === 0 && <span class="mark">key</span>}
                {own.some((index) => hasColumn(index, column.name)) && <span class="mark">indexed</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="entry-actions">
        <NameButton label="Insert name" name={{ table: name }} />
      </p>
    </div>
  );
}
