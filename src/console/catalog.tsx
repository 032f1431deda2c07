// The lists at the left: the tables with their columns and indexes, the node tables, and the rules.

import { BUILT_IN_COLUMNS, END_COLUMN } from '../model/columns.ts';
import { describedOptions } from '../model/options.ts';
import { countText } from './format.ts';
import { lazy } from './lazy.tsx';
import { signal, useEffect, useRef, useState } from './preact.ts';
import {
  chooseTable,
  hasColumn,
  indexes,
  isListed,
  nodeTables,
  openView,
  rules,
  tableName,
  tables,
  view,
  type WantedName,
  wantedName,
  wantedStatement,
} from './state.ts';
import { BUILT_IN_NAMES, quoted } from './statement-words.ts';

const BUILT_IN_TYPES = ['INTEGER', 'INTEGER', 'nodes', ...BUILT_IN_COLUMNS.map(({ type }) => type)];

/** On narrow screens the lists are folded, so that the view is visible without scrolling. */
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
        <TableList />
        {isListed.value && tables.value.length === 0 && <p class="quiet">No table yet. Import a file to make one.</p>}
      </details>
      {nodeTables.value.length > 0 && (
        <details open={isWide}>
          <summary>
            Nodes <span class="quiet">{nodeTables.value.length}</span>
          </summary>
          <NodeTables />
        </details>
      )}
      {isListed.value && <RuleEntries />}
    </aside>
  );
}

function RuleEntries() {
  return (
    <details open={isWideNow.value}>
      <summary>
        Rules <span class="quiet">{rules.value.length}</span>
      </summary>
      <ul class="plain-list catalog-list">
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
  );
}

const NodeTables = lazy(() => import('./node-tables.tsx').then((module) => module.NodeTables), '');
const TextSearch = lazy(() => import('./text-search.tsx').then((module) => module.TextSearch), '');
const TableFilter = lazy(() => import('./table-filter.tsx').then((module) => module.TableFilter), '');

/** A list longer than this gets a filter field. */
const MOST_WITHOUT_FILTER = 12;

function TableList() {
  const [wanted, setWanted] = useState('');
  const list = useRef<HTMLUListElement>(null);
  const all = tables.value;
  const hasFilter = all.length > MOST_WITHOUT_FILTER;
  const part = hasFilter ? wanted.trim().toLowerCase() : '';
  const shown = all.filter(({ name }) => name.toLowerCase().includes(part));
  const chosen = tableName.value;
  useEffect(() => {
    // `scrollIntoView` would scroll the page too.
    const entry = list.current?.querySelector<HTMLElement>('[aria-pressed=true]');
    if (entry == null || list.current === null) return;
    const top = entry.getBoundingClientRect().top - list.current.getBoundingClientRect().top;
    if (top < 0 || top > list.current.clientHeight - entry.offsetHeight) list.current.scrollTop += top;
  }, [chosen, all]);
  return (
    <>
      {hasFilter && (
        <div class="catalog-filter">
          <TableFilter
            text={wanted}
            shown={shown.length}
            all={all.length}
            onChange={setWanted}
            onEnter={() => shown[0] !== undefined && chooseTable(shown[0].name)}
          />
        </div>
      )}
      <ul ref={list} class="plain-list catalog-list">
        {shown.map(({ name }) => (
          <li key={name}>
            <TableEntry name={name} />
          </li>
        ))}
      </ul>
    </>
  );
}

function TableEntry({ name }: { name: string }) {
  const table = tables.value.find((item) => item.name === name)!;
  const isChosen = tableName.value === name;
  const own = indexes.value.filter((index) => index.table === name);
  const texts = own.find((index) => 'kind' in index);
  const columns = [
    ...BUILT_IN_NAMES.map((column, at) => ({ name: column, type: BUILT_IN_TYPES[at]! })),
    ...(table.intervals ? [{ name: END_COLUMN, type: 'INTEGER' }] : []),
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
          {texts !== undefined && <TextSearch table={name} columns={texts.columns} />}
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
                    {own.some((index) => hasColumn(index, column.name)) && <span class="mark">indexed</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="quiet">
            With {describedOptions(table)}
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

/** A button that inserts a name at the caret in the statement. */
export function NameButton({ label, name }: { label: string; name: WantedName }) {
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
