// Puts rows together as a Parquet file, in the browser: its columns with the types their values have, packed with gzip.

import { type CellType, Column, type ColumnType, pageOf } from './column.ts';
import { type ThriftValue, thriftBytes } from './thrift.ts';

const GROUP_ROWS = 50_000;

// Numbers of the format's lists of types, encodings and codecs.
const TYPES: Readonly<Record<CellType, number>> = { boolean: 0, integer: 2, real: 5, text: 6 };
const OPTIONAL = 1;
const REPEATED = 2;
const UTF8 = 0;
const LIST = 3;
const PLAIN = 0;
const RUN_LENGTH = 3;
const GZIP = 2;

const MAGIC = new TextEncoder().encode('PAR1');

/** Holds all rows until the end: only then is known what the columns are. */
export class ParquetFile {
  rowCount = 0;
  readonly #columns: readonly Column[];

  constructor(names: readonly string[]) {
    this.#columns = names.map((name) => new Column(name));
  }

  add(row: Readonly<Record<string, unknown>>): void {
    for (const column of this.#columns) column.add(row[column.name]);
    this.rowCount += 1;
  }

  /** The bytes of the file, in order. */
  async parts(): Promise<Uint8Array<ArrayBuffer>[]> {
    const parts: Uint8Array<ArrayBuffer>[] = [MAGIC];
    const groups: ThriftValue[] = [];
    let offset = MAGIC.length;
    const put = (bytes: Uint8Array<ArrayBuffer>) => {
      parts.push(bytes);
      offset += bytes.length;
    };
    for (let start = 0; start < this.rowCount; start += GROUP_ROWS) {
      const end = Math.min(this.rowCount, start + GROUP_ROWS);
      const chunks: ThriftValue[] = [];
      let size = 0;
      for (const { name, type, values } of this.#columns) {
        const { body, count } = pageOf(values.slice(start, end), type);
        const packed = await gzipped(body);
        const header = pageHeader(count, body.length, packed.length);
        const sizes = { whole: header.length + body.length, packed: header.length + packed.length };
        chunks.push(chunkOf(name, type, count, offset, sizes));
        size += sizes.whole;
        put(header);
        put(packed);
      }
      groups.push({
        fields: [
          [1, { list: chunks }],
          [2, { i64: size }],
          [3, { i64: end - start }],
        ],
      });
    }
    const footer = this.#footer(groups);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, footer.length, true);
    return [...parts, footer, length, MAGIC];
  }

  #footer(groups: readonly ThriftValue[]): Uint8Array<ArrayBuffer> {
    const columns = this.#columns.flatMap(({ name, type }) => elementsOf(name, type));
    const root = element('root', [[5, { i32: this.#columns.length }]]);
    return thriftBytes({
      fields: [
        [1, { i32: 1 }],
        [2, { list: [root, ...columns] }],
        [3, { i64: this.rowCount }],
        [4, { list: groups }],
        [6, { text: 'Hedgerow' }],
      ],
    });
  }
}

type Fields = readonly (readonly [number, ThriftValue])[];

/** `before` and `after`: its fields below and above the name, whose number is 4. */
function element(name: string, after: Fields, before: Fields = []): ThriftValue {
  return { fields: [...before, [4, { text: name }], ...after] };
}

/** All values are optional; lists are in the three levels of the format. */
function elementsOf(name: string, type: ColumnType): ThriftValue[] {
  if (typeof type !== 'object') return [leaf(name, type)];
  const isList: Fields = [
    [5, { i32: 1 }],
    [6, { i32: LIST }],
    [10, { fields: [[3, { fields: [] }]] }],
  ];
  return [
    element(name, isList, [[3, { i32: OPTIONAL }]]),
    element('list', [[5, { i32: 1 }]], [[3, { i32: REPEATED }]]),
    leaf('element', type.listOf),
  ];
}

function leaf(name: string, type: CellType | 'json'): ThriftValue {
  const isText = type === 'text' || type === 'json';
  const asText: Fields = [
    [6, { i32: UTF8 }],
    [10, { fields: [[1, { fields: [] }]] }],
  ];
  return element(name, isText ? asText : [], [
    [1, { i32: TYPES[type === 'json' ? 'text' : type] }],
    [3, { i32: OPTIONAL }],
  ]);
}

interface Sizes {
  readonly whole: number;
  readonly packed: number;
}

function chunkOf(name: string, type: ColumnType, count: number, offset: number, sizes: Sizes): ThriftValue {
  const isList = typeof type === 'object';
  const cell = isList ? type.listOf : type === 'json' ? 'text' : type;
  const path = isList ? [name, 'list', 'element'] : [name];
  const meta: Fields = [
    [1, { i32: TYPES[cell] }],
    [2, { list: [{ i32: PLAIN }, { i32: RUN_LENGTH }] }],
    [3, { list: path.map((text) => ({ text })) }],
    [4, { i32: GZIP }],
    [5, { i64: count }],
    [6, { i64: sizes.whole }],
    [7, { i64: sizes.packed }],
    [9, { i64: offset }],
  ];
  return {
    fields: [
      [2, { i64: offset }],
      [3, { fields: meta }],
    ],
  };
}

function pageHeader(count: number, wholeSize: number, packedSize: number): Uint8Array<ArrayBuffer> {
  const page: Fields = [
    [1, { i32: count }],
    [2, { i32: PLAIN }],
    [3, { i32: RUN_LENGTH }],
    [4, { i32: RUN_LENGTH }],
  ];
  return thriftBytes({
    fields: [
      [1, { i32: 0 }],
      [2, { i32: wholeSize }],
      [3, { i32: packedSize }],
      [5, { fields: page }],
    ],
  });
}

async function gzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
