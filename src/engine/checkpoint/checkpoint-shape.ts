// Checks the shape of the manifest's document. The checksum was verified before, so a wrong shape
// means that another program wrote the document or that this program has a defect.

import { COLUMN_TYPE_NAMES } from '../../model/column-types.ts';
import { isOption, OPTION_NAMES, TABLE_OPTIONS, type TableOption } from '../../model/options.ts';
import { v } from '../../valibot.ts';
import type { Checkpoint } from './checkpoint.ts';

const whole = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER));
const positive = v.pipe(whole, v.minValue(1));

const column = v.looseObject({
  id: whole,
  name: v.string(),
  type: v.picklist(COLUMN_TYPE_NAMES),
  default: v.nullable(v.union([v.number(), v.string(), v.boolean()])),
});

function optionShapes(): Record<TableOption, v.GenericSchema<unknown, number>> {
  const entries = OPTION_NAMES.map((name) => {
    return [name, v.custom<number>((value) => isOption(name, value), TABLE_OPTIONS[name].problem)];
  });
  return Object.fromEntries(entries) as Record<TableOption, v.GenericSchema<unknown, number>>;
}

const definition = v.looseObject({
  id: positive,
  name: v.string(),
  memberTables: v.array(v.string()),
  roles: v.exactOptional(v.array(v.string())),
  nodes: v.exactOptional(v.array(positive)),
  createNodes: v.exactOptional(v.literal(false)),
  key: v.exactOptional(whole),
  intervals: v.exactOptional(whole),
  ...optionShapes(),
  columns: v.array(column),
  indexes: v.array(v.looseObject({ column: whole, createdAt: v.number() })),
  createdAt: v.number(),
  nextColumnId: whole,
});

const table = v.looseObject({
  definition,
  appliedLsn: whole,
  nextId: positive,
  nextSegment: positive,
  segments: v.array(v.looseObject({ number: positive, bytes: whole, checksum: v.exactOptional(whole) })),
  held: v.exactOptional(v.array(v.looseObject({ number: positive, bytes: whole, lsn: whole }))),
  expirations: v.exactOptional(whole),
  unlogged: v.exactOptional(v.pipe(v.number(), v.safeInteger())),
});

const replayFile = { number: positive, bytes: whole };
const replays = v.looseObject({
  lsn: whole,
  next: positive,
  files: v.array(v.looseObject({ ...replayFile, newestAt: v.exactOptional(v.number()) })),
  lost: v.exactOptional(v.array(v.looseObject({ ...replayFile, newestAt: v.number() }))),
});

/** Fields that older versions do not write are optional; unknown fields are accepted. */
const checkpoint: v.BaseSchema<unknown, Checkpoint, v.BaseIssue<unknown>> = v.looseObject({
  format: v.literal(1),
  lsn: whole,
  nextTableId: positive,
  nextNumber: v.exactOptional(positive),
  tables: v.array(table),
  documents: v.exactOptional(
    v.array(v.looseObject({ store: v.string(), entries: v.array(v.strictTuple([v.string(), v.unknown()])) })),
  ),
  replays: v.exactOptional(replays),
  changes: v.exactOptional(
    v.looseObject({ fromLsn: whole, definitions: v.array(v.looseObject({ lsn: whole, definition })) }),
  ),
});

/** Returns a description of the first problem in the document, or null if there is none. */
export function checkpointProblem(value: unknown): string | null {
  const { issues } = v.safeParse(checkpoint, value, { abortEarly: true });
  if (issues !== undefined) return `${v.getDotPath(issues[0]) ?? 'the document'}: ${issues[0].message}`;
  const { tables, nextTableId } = value as Checkpoint;
  const ids = new Set<number>();
  const names = new Set<string>();
  for (const { definition } of tables) {
    if (ids.has(definition.id) || names.has(definition.name.toLowerCase()))
      return `table ${definition.id} (${definition.name}) is listed twice`;
    if (definition.id >= nextTableId) return `table ${definition.id} is not below the next id, ${nextTableId}`;
    ids.add(definition.id);
    names.add(definition.name.toLowerCase());
  }
  return null;
}
