// Defines the spec and the schema of a small bank for tests of the query language.

import type { BackendColumn, BackendSchema, ColumnKind } from '../../src/virtual/backend.ts';
import { checkedSpec } from '../../src/virtual/spec/spec.ts';

function columns(kinds: Readonly<Record<string, ColumnKind>>): BackendColumn[] {
  return Object.entries(kinds).map(([name, kind]) => ({ name, kind, type: kind.toUpperCase() }));
}

function table(name: string, kinds: Readonly<Record<string, ColumnKind>>) {
  return { name, path: name.split('.'), columns: columns(kinds), row_count: null };
}

export const BANK_SCHEMA: BackendSchema = {
  tables: [
    table('accounts', { id: 'integer' }),
    table('transfers', {
      ...{ from_id: 'integer', to_id: 'integer', via: 'text', ts: 'timestamp', amount: 'real', fee: 'decimal' },
      ...{
        note: 'text',
        ok: 'boolean',
        day: 'date',
        at: 'timestamptz',
        key: 'uuid',
        tags: 'other',
        Note: 'text',
        NOTE2: 'text',
      },
    }),
    table('s.seats', { meeting_id: 'integer', room: 'text', account: 'integer', ts: 'integer', clock: 'time' }),
  ],
};

export const BANK_BODY = {
  id: 'bank',
  name: 'Bank',
  backend: { type: 'duckdb', path: 'bank.duckdb' },
  nodes: [
    { label: 'Account', table: 'accounts', id_column: 'id' },
    { label: 'Broker', table: 'transfers', id_column: 'via' },
    { label: 'Lost', table: 'nowhere', id_column: 'id' },
  ],
  edges: [
    {
      label: 'Transfer',
      shape: 'row',
      table: 'transfers',
      ts_column: 'ts',
      row_member_columns: { src: 'from_id', dst: 'to_id', via: 'via' },
      members: [
        { name: 'src', node_label: 'Account', role: 'source' },
        { name: 'dst', node_label: 'Account', role: 'target' },
        { name: 'via', node_label: 'Broker', role: 'via' },
      ],
    },
    {
      label: 'Meeting',
      shape: 'group',
      table: 's.seats',
      ts_column: 'ts',
      group_columns: ['meeting_id', 'room'],
      member_column: 'account',
      members: [{ name: 'guest', node_label: 'Account', role: 'guest' }],
    },
    ...[
      ['NoTable', 'transferz', 'ts', 'from_id', 'Account'],
      ['NoTime', 'transfers', 'tz', 'from_id', 'Account'],
      ['TextTime', 'transfers', 'note', 'from_id', 'Account'],
      ['NoColumn', 'transfers', 'ts', 'from_ids', 'Account'],
      ['NoNode', 'transfers', 'ts', 'from_id', 'Lost'],
      ['TwoNotes', 'transfers', 'ts', 'nOTE', 'Account'],
    ].map(([label, table, ts_column, column, node_label]) => ({
      ...{ label, shape: 'row', table, ts_column, row_member_columns: { m: column } },
      members: [{ name: 'm', node_label, role: 'm' }],
    })),
  ],
};

export const BANK_SPEC = checkedSpec(BANK_BODY, { root: '/srv/virtual' });
