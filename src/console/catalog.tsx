// What there is, at the left: tables with their columns and indexes, and the rules.

import { countText } from './format.ts';
import { signal } from './preact.ts';
import {
  chooseTable,
  indexes,
  openView,
  rules,
  tableName,
  tables,
  view,
  type WantedName,
  wantedName,
  wantedStatement,
} from './state.ts';
import { BUILT_IN_COLUMNS, quoted } from './statement-words.ts';

const BUILT_IN_TYPES = ['INTEGER', 'INTEGER', 'nodes', 'REAL', 'REAL', 'TEXT'];

/** On narrow screens the lists are folded, so that the view comes first. */
const wide = matchMedia('(min-width: 800px)');
const isWideNow = signal(wide.matches);
wide.addEventListener('change', ({ matches }) => {
  isWideNow.value = matches;
});

export function Catalog() {
  const isWide = isWideNow.value;
  return (
    <aside class="catalog" aria-label="Tables and rules">
      <details open={isWide}>
        <summary>
          Tables <span class="quiet">{tables.value.length}</span>
        </summary>
        <ul class="plain-list">
          {tables.value.map(({ name }) => (
            <li key={name}>
              <TableEntry name={name} />
            </li>
          ))}
        </ul>
        {tables.value.length === 0 && <p class="quiet">No table yet. Import a file to make one.</p>}
      </details>
      <details open={isWide}>
        <summary>
          Rules <span class="quiet">{rules.value.length}</span>
        </summary>
        <ul class="plain-list">
          {rules.value.map((rule) => (
            <li key={rule.id}>
              <button type="button" class="entry" onClick={() => openView('rules')}>
                <span>{rule.name}</span>
                <span class="quiet">{rule.enabled ? rule.head : 'off'}</span>
              </button>
            </li>
          ))}
        </ul>
        {rules.value.length === 0 && <p class="quiet">No rule yet. Write one under Rules.</p>}
      </details>
    </aside>
  );
}

function TableEntry({ name }: { name: string }) {
  const table = tables.value.find((item) => item.name === name)!;
  const isChosen = tableName.value === name;
  const own = indexes.value.filter((index) => index.table === name);
  const columns = [
    ...BUILT_IN_COLUMNS.map((column, at) => ({ name: column, type: BUILT_IN_TYPES[at]! })),
    ...table.columns,
  ];
  return (
    <>
      <button type="button" class="entry" aria-pressed={isChosen} onClick={() => chooseTable(name)}>
        <span>{name}</span>
        <span class="quiet">{countText(table.row_count, 'edge')}</span>
      </button>
      {isChosen && (
        <div class="entry-more">
          <table class="columns">
            <caption class="sr-only">Columns of {name}</caption>
            <tbody>
              {columns.map((column) => (
                <tr key={column.name}>
                  <th scope="row">
                    <NameButton label={column.name} name={{ table: name, column: column.name }} />
                  </th>
                  <td class="quiet">
                    {column.type}
                    {own.some((index) => index.column === column.name) && <span class="mark">indexed</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="quiet">
            Buckets of {table.bucket_seconds} s
            {table.member_tables.length > 0 && `; members: ${table.member_tables.join(', ')}`}
          </p>
          <p class="entry-actions">
            <button
              type="button"
              class="plain"
              onClick={() => {
                wantedStatement.value = `MATCH (e:${quoted(name)})\nRETURN *\nORDER BY e.event_ts DESC\nLIMIT 200`;
                openView('query');
              }}
            >
              Newest edges
            </button>
            <NameButton label="Insert name" name={{ table: name }} />
          </p>
        </div>
      )}
    </>
  );
}

/** Writes a name where the caret of the statement stands. */
function NameButton({ label, name }: { label: string; name: WantedName }) {
  return (
    <button
      type="button"
      class={name.column === undefined ? 'plain' : 'plain name'}
      title={`Write ${quoted(name.column ?? name.table)} into the statement`}
      onClick={() => {
        wantedName.value = name;
        if (view.value !== 'query') openView('query');
      }}
    >
      {label}
    </button>
  );
}
