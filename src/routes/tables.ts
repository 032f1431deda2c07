// Tables: list, read, create, drop.

import type { ColumnDefinition, TableInput } from '../engine/types.ts';
import { jsonReply } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { identifier, integerFrom, text, v } from '../http/schema.ts';
import { validated } from '../http/validated.ts';
import { tableItem } from './schemas.ts';

const list = validated({
  method: 'GET',
  path: '/v1/tables',
  role: 'readonly',
  summary: 'All tables.',
  answers: { 200: v.array(tableItem) },
  handler: (_input, { database }) =>
    jsonReply(
      200,
      database.tables().map((table) => table.item()),
    ),
});

const column = v.object({
  name: identifier(),
  type: v.picklist(['INTEGER', 'REAL', 'TEXT', 'BOOLEAN'], 'must be INTEGER, REAL, TEXT or BOOLEAN'),
  default: v.nullish(v.union([v.number(), text(), v.boolean()], 'must be a number, a string or a boolean')),
});

const create = validated({
  method: 'POST',
  path: '/v1/tables',
  role: 'admin',
  summary: 'Create a table.',
  body: v.object({
    name: identifier(),
    member_tables: v.optional(
      v.pipe(v.array(v.pipe(text(), v.minLength(1, 'must not be empty'), v.maxLength(64, 'is longer than 64')))),
    ),
    bucket_seconds: v.optional(integerFrom(1)),
    compact_threshold: v.optional(integerFrom(0)),
    columns: v.optional(v.array(column)),
  }),
  answers: { 201: tableItem },
  handler: async ({ body }, { database }) => {
    const input: TableInput = { name: body.name };
    if (body.member_tables !== undefined) input.memberTables = body.member_tables;
    if (body.bucket_seconds !== undefined) input.bucketSeconds = body.bucket_seconds;
    if (body.compact_threshold !== undefined) input.compactThreshold = body.compact_threshold;
    if (body.columns !== undefined) input.columns = body.columns.map(columnDefinition);
    const table = await database.createTable(input);
    return jsonReply(201, table.item());
  },
});

function columnDefinition(given: v.InferOutput<typeof column>): ColumnDefinition {
  const { name, type, default: fallback } = given;
  return fallback === undefined || fallback === null ? { name, type } : { name, type, default: fallback };
}

const named = v.object({ name: text() });

const read = validated({
  method: 'GET',
  path: '/v1/tables/{name}',
  role: 'readonly',
  summary: 'One table.',
  parameters: named,
  answers: { 200: tableItem },
  handler: ({ parameters }, { database }) => jsonReply(200, database.table(parameters.name).item()),
});

const drop = validated({
  method: 'DELETE',
  path: '/v1/tables/{name}',
  role: 'admin',
  summary: 'Drop a table and its rows.',
  parameters: named,
  answers: { 200: v.object({ name: v.string(), dropped: v.literal(true) }) },
  handler: async ({ parameters }, { database }) => {
    const { name } = database.table(parameters.name);
    await database.dropTable(name);
    return jsonReply(200, { name, dropped: true });
  },
});

export const tableRoutes: readonly Route[] = [list, create, read, drop];
