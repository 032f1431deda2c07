// Routes that list, read, create and drop node tables.

import type { NodeTableInput, NodeTableItem } from '../engine/index.ts';
import { jsonReply, jsonTextReply, notModified, OPENINGS, tagged, WriteAnswer, writeAnswer } from '../http/index.ts';
import { v } from '../http/schema.ts';
import { type Route, validated } from './application.ts';
import { nodeTableBody, nodeTableItem, nodeTableParameters } from './schemas/nodes.ts';
import { dropTableAnswer, tablesQuery } from './schemas/tables.ts';
import { tablesTag, tableTag } from './table-tags.ts';
import { columnDefinition, TablesText } from './tables.ts';

const list = validated({
  id: 'listNodeTables',
  method: 'GET',
  path: '/v1/node-tables',
  role: 'readonly',
  summary: 'All node tables.',
  tagged: true,
  query: tablesQuery,
  answers: { 200: v.array(nodeTableItem) },
  handler: ({ query }, call) => {
    const { nodes } = call.database;
    const tables = nodes.tables();
    const tag = tablesTag(tables);
    if (call.holds(tag)) return notModified(tag);
    const text = new TablesText(tables, (table) => nodes.item(table, query.defaults === 'true'), tag);
    return writeAnswer(call, text, OPENINGS.complete, true);
  },
});

const create = validated({
  id: 'createNodeTable',
  method: 'POST',
  path: '/v1/node-tables',
  role: 'admin',
  summary: 'Create a node table.',
  audit: 'node_table.created',
  idempotent: true,
  body: nodeTableBody,
  answers: { 201: nodeTableItem },
  handler: async ({ body }, { database, once }) => {
    const input: NodeTableInput = { name: body.name, key: body.key };
    if (body.columns !== undefined) input.columns = body.columns.map(columnDefinition);
    const answer = new WriteAnswer<NodeTableItem>(once, 201, JSON.stringify);
    const table = await database.nodes.createTable(input, answer.attach);
    const facts = { audit: { table: table.name } };
    return jsonTextReply(201, answer.body(database.nodes.item(table)), undefined, facts);
  },
});

const read = validated({
  id: 'getNodeTable',
  method: 'GET',
  path: '/v1/node-tables/{name}',
  role: 'readonly',
  summary: 'One node table.',
  tagged: true,
  parameters: nodeTableParameters,
  answers: { 200: nodeTableItem },
  errors: [404],
  handler: ({ parameters }, call) => {
    const { nodes } = call.database;
    const table = nodes.table(parameters.name);
    const tag = tableTag(table);
    return call.holds(tag) ? notModified(tag) : tagged(jsonReply(200, nodes.item(table)), tag);
  },
});

const drop = validated({
  id: 'dropNodeTable',
  method: 'DELETE',
  path: '/v1/node-tables/{name}',
  role: 'admin',
  summary: 'Drop a node table and its nodes.',
  audit: 'node_table.dropped',
  idempotent: true,
  parameters: nodeTableParameters,
  answers: { 200: dropTableAnswer },
  errors: [404],
  handler: async ({ parameters }, { database, once }) => {
    const { name } = database.nodes.table(parameters.name);
    const answer = new WriteAnswer<{ name: string }>(once, 200, () => JSON.stringify({ name, dropped: true }));
    await database.nodes.dropTable(name, answer.attach);
    return jsonTextReply(200, answer.body({ name }), undefined, { audit: { table: name } });
  },
});

export const nodeTableRoutes: readonly Route[] = [list, create, read, drop];
