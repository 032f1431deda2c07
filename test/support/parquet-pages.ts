// Writes Parquet files with a single column, whose pages end where a test wants, even in the middle
// of a row.

import type { Encoding, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';

/** A schema element below the root: a group with one child, or the INT64 column at the end. */
export interface Level {
  readonly name: string;
  readonly repetition: 'REQUIRED' | 'OPTIONAL' | 'REPEATED';
  readonly list?: boolean;
}

interface Entry {
  readonly repetition: number;
  readonly definition: number;
  /** Undefined if an element on the path is null or empty. */
  readonly value: bigint | undefined;
}

/**
 * Yields the definition and repetition levels of the entries in a value. In `value`, null stands
 * for an absent optional element, and an array for a repeated element. A group is represented by
 * the value of its single child.
 */
function* entriesOf(
  levels: readonly Level[],
  value: unknown,
  at = 0,
  definition = 0,
  repetition = 0,
): Generator<Entry> {
  const level = levels[at];
  if (level === undefined) {
    yield { repetition, definition, value: value as bigint };
  } else if (level.repetition === 'REQUIRED') {
    yield* entriesOf(levels, value, at + 1, definition, repetition);
  } else if (value === null || (Array.isArray(value) && level.repetition === 'REPEATED' && value.length === 0)) {
    yield { repetition, definition, value: undefined };
  } else if (level.repetition === 'OPTIONAL') {
    yield* entriesOf(levels, value, at + 1, definition + 1, repetition);
  } else {
    const own = levels.slice(0, at + 1).filter((each) => each.repetition === 'REPEATED').length;
    for (const [place, item] of (value as unknown[]).entries())
      yield* entriesOf(levels, item, at + 1, definition + 1, place === 0 ? repetition : own);
  }
}

/**
 * Returns a file with one row group and uncompressed version 1 pages. `cut` returns the number of
 * values in the next page, given the number of remaining values.
 */
export function pagedFile(
  levels: readonly Level[],
  rows: readonly unknown[],
  cut: (left: number) => number,
): Uint8Array {
  const schema: SchemaElement[] = [
    { name: 'root', num_children: 1 },
    ...levels.map(({ name, repetition, list }, place): SchemaElement => {
      const group = place < levels.length - 1;
      return {
        name,
        repetition_type: repetition,
        ...(group ? { num_children: 1 } : { type: 'INT64' as const }),
        ...(list === true ? { converted_type: 'LIST' as const } : {}),
      };
    }),
  ];
  const most = {
    definition: levels.filter(({ repetition }) => repetition !== 'REQUIRED').length,
    repetition: levels.filter(({ repetition }) => repetition === 'REPEATED').length,
  };
  const entries = rows.flatMap((row) => [...entriesOf(levels, row)]);
  const writer = new ByteWriter();
  writer.appendUint32(0x31524150);
  const start = writer.offset;
  for (let from = 0; from < entries.length; ) {
    const taken = entries.slice(from, from + cut(entries.length - from));
    const page = new ByteWriter();
    if (most.repetition > 0)
      appendLevels(
        page,
        taken.map(({ repetition }) => repetition),
        most.repetition,
      );
    if (most.definition > 0)
      appendLevels(
        page,
        taken.map(({ definition }) => definition),
        most.definition,
      );
    for (const { value } of taken) if (value !== undefined) page.appendInt64(value);
    appendPage(writer, page, taken.length, 'PLAIN');
    from += taken.length;
  }
  appendEnd(writer, { schema, levels, rows: rows.length, values: entries.length, start });
  return new Uint8Array(writer.getBuffer());
}

interface Content {
  readonly schema: SchemaElement[];
  readonly levels: readonly Level[];
  readonly rows: number;
  readonly values: number;
  readonly start: number;
}

function appendEnd(writer: ByteWriter, { schema, levels, rows, values, start }: Content): void {
  const size = BigInt(writer.offset - start);
  const chunk = {
    type: 'INT64' as const,
    encodings: ['PLAIN' as const],
    path_in_schema: levels.map(({ name }) => name),
    codec: 'UNCOMPRESSED' as const,
    num_values: BigInt(values),
    total_uncompressed_size: size,
    total_compressed_size: size,
    data_page_offset: BigInt(start),
  };
  writeMetadata(writer, {
    version: 1,
    schema,
    num_rows: BigInt(rows),
    row_groups: [
      {
        columns: [{ file_offset: BigInt(start), meta_data: chunk }],
        total_byte_size: size,
        num_rows: BigInt(rows),
      },
    ],
    metadata_length: 0,
  });
  writer.appendUint32(0x31524150);
}

function appendLevels(page: ByteWriter, levels: number[], most: number): void {
  const bytes = new ByteWriter();
  writeRleBitPackedHybrid(bytes, levels, 32 - Math.clz32(most));
  page.appendUint32(bytes.offset);
  page.appendBytes(bytes.getBytes());
}

function appendPage(writer: ByteWriter, page: ByteWriter, count: number, encoding: Encoding): void {
  const levels = { definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' } as const;
  writePageHeader(writer, {
    type: 'DATA_PAGE',
    uncompressed_page_size: page.offset,
    compressed_page_size: page.offset,
    data_page_header: { num_values: count, encoding, ...levels },
  });
  writer.appendBytes(page.getBytes());
}
