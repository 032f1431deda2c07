// Decodes the rows of one column chunk of a Parquet file, some rows at a time. Besides the
// dictionary, only one page is in memory, and most of it is still encoded.
//
// A chunk is a sequence of pages. The first page may be a dictionary. Each value has a definition
// level, which is below the maximum if the value is null or if a list that would contain it is
// empty. In lists, each value also has a repetition level, which is 0 if the value begins a row.
// For a column of lists of integers, for example:
//
//   row         repetition levels   definition levels   values
//   [7, 8]      0 1                 3 3                 7 8
//   []          0                   1
//   [null, 9]   0 1                 2 3                 9
//
// Flat columns need only definition levels. For nested columns, levels and values are held until
// the next repetition level 0, or the end of the chunk, shows that a row is complete. Then rows are
// assembled from them.

import {
  type AsyncBuffer,
  assembleLists,
  type ColumnMetaData,
  type DecodedArray,
  decompressed,
  type LeafColumn,
  type PageHeader,
  parquetHeader,
} from './parquet-library.ts';
import { readRuns, type SmallIntegers } from './parquet-runs.ts';
import { dictionaryValues, pageValues, type Values } from './parquet-values.ts';

/** Number of bytes that are read at once. A longer page is read in one piece. */
const WINDOW_BYTES = 2 ** 16;
/** Maximum size in bytes of a page. Writers make pages of 1 MB to 100 MB. */
const MAX_PAGE_BYTES = 2 ** 28;
/**
 * Maximum number of values in a page. A run of equal values takes only a few bytes in the file, but
 * each value takes an index in memory.
 */
const MAX_PAGE_VALUES = 2 ** 25;
/**
 * Maximum size in bytes of a page header. A header may contain the least and the greatest value of
 * its page.
 */
const MAX_HEADER_BYTES = 2 ** 22;

export interface RangeFile extends AsyncBuffer {
  slice(start: number, end?: number): ArrayBuffer;
}

/** A page with the values that were not taken yet. */
interface Page {
  /** Number of values, nulls included. */
  readonly count: number;
  /** Definition levels. Undefined: no value is null. */
  readonly definitions: SmallIntegers | undefined;
  readonly repetitions: SmallIntegers | undefined;
  readonly values: Values;
  at: number;
}

/** Values and levels that do not form a complete row yet. */
interface Pending {
  definitions: number[];
  repetitions: number[];
  values: unknown[];
}

export class ColumnRows {
  readonly #column: LeafColumn;
  readonly #pages: Pages;
  #page: Page | undefined;
  #pending: Pending = { definitions: [], repetitions: [], values: [] };
  #rows: unknown[] = [];

  constructor(file: RangeFile, column: LeafColumn, chunk: ColumnMetaData) {
    this.#column = column;
    this.#pages = new Pages(file, column, chunk);
  }

  /** Returns the next `count` rows. Throws if there are fewer. */
  take(count: number): DecodedArray {
    return this.#column.flat ? this.#takeFlat(count) : this.#takeNested(count);
  }

  /** Returns the page with the next values, or undefined after the last page. */
  #current(): Page | undefined {
    while (this.#page === undefined || this.#page.at === this.#page.count) {
      this.#page = undefined;
      this.#page = this.#pages.next();
      if (this.#page === undefined) return undefined;
    }
    return this.#page;
  }

  #takeFlat(count: number): DecodedArray {
    const rows: unknown[] = [];
    while (rows.length < count) {
      const page = this.#current();
      if (page === undefined) throw this.#tooFew();
      const taken = flatRows(page, Math.min(count - rows.length, page.count - page.at), this.#column.maxDefinition);
      if (taken.length === count) return taken;
      for (const row of taken) rows.push(row);
    }
    return rows;
  }

  #takeNested(count: number): DecodedArray {
    while (this.#rows.length < count) {
      const page = this.#current();
      this.#hold(page, count);
      if (page === undefined && this.#rows.length < count) throw this.#tooFew();
    }
    return this.#rows.splice(0, count);
  }

  /**
   * Takes at most `most` values from a page and assembles the rows that are complete. If `page` is
   * undefined, there are no more values.
   */
  #hold(page: Page | undefined, most: number): void {
    const { maxDefinition, maxRepetition } = this.#column;
    const { definitions, repetitions, values } = this.#pending;
    const before = definitions.length;
    if (page !== undefined) {
      const end = Math.min(page.count, page.at + most);
      let present = 0;
      for (let at = page.at; at < end; at++) {
        const definition = page.definitions?.[at] ?? maxDefinition;
        if (definition === maxDefinition) present++;
        definitions.push(definition);
        if (maxRepetition > 0) repetitions.push(page.repetitions?.[at] ?? 0);
      }
      for (const value of page.values(present)) values.push(value);
      page.at = end;
    }
    if (repetitions[0]) throw new Error(`column ${this.#column.path} begins in the middle of a row`);
    // The last row may continue in later values.
    const whole = maxRepetition === 0 || page === undefined ? definitions.length : repetitions.lastIndexOf(0);
    if (whole >= before) this.#assemble(whole);
  }

  /** Assembles rows from the first `count` levels that are held. */
  #assemble(count: number): void {
    const { decoder, maxDefinition } = this.#column;
    const { definitions, repetitions, values } = this.#pending;
    if (count === 0) return;
    const whole = definitions.slice(0, count);
    const present = whole.reduce((sum, definition) => (definition === maxDefinition ? sum + 1 : sum), 0);
    const taken = values.slice(0, present);
    const rows =
      maxDefinition === 0 ? taken : assembleLists([], whole, repetitions.slice(0, count), taken, decoder.schemaPath);
    for (const row of rows) this.#rows.push(row);
    this.#pending = {
      definitions: definitions.slice(count),
      repetitions: repetitions.slice(count),
      values: values.slice(present),
    };
  }

  #tooFew(): Error {
    return new Error(`column ${this.#column.path} has fewer values than its row group has rows`);
  }
}

function flatRows(page: Page, count: number, maxDefinition: number): DecodedArray {
  const { definitions, at } = page;
  page.at += count;
  if (definitions === undefined) return page.values(count);
  let present = 0;
  for (let i = at; i < at + count; i++) if (definitions[i] === maxDefinition) present++;
  const values = page.values(present);
  if (present === count) return values;
  let next = 0;
  return Array.from({ length: count }, (_, i) => (definitions[at + i] === maxDefinition ? values[next++] : null));
}

/** The pages of a column chunk in order. */
class Pages {
  readonly #column: LeafColumn;
  readonly #bytes: ChunkBytes;
  #dictionary: DecodedArray | undefined;

  constructor(file: RangeFile, column: LeafColumn, chunk: ColumnMetaData) {
    this.#column = column;
    const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
    this.#bytes = new ChunkBytes(file, start, start + Number(chunk.total_compressed_size));
  }

  next(): Page | undefined {
    while (!this.#bytes.ended) {
      const header = this.#bytes.header();
      const bytes = this.#bytes.take(sizeOf(header.compressed_page_size, MAX_PAGE_BYTES));
      sizeOf(header.uncompressed_page_size, MAX_PAGE_BYTES);
      if (header.type !== 'DICTIONARY_PAGE') return this.#dataPage(header, bytes);
      const count = sizeOf(header.dictionary_page_header?.num_values, MAX_PAGE_VALUES);
      const page = decompressed(bytes, header.uncompressed_page_size, this.#column);
      this.#dictionary = dictionaryValues(page, count, this.#column);
    }
    return undefined;
  }

  #dataPage(header: PageHeader, bytes: Uint8Array): Page {
    const form = header.data_page_header ?? header.data_page_header_v2;
    if (form === undefined) throw new Error(`a page of the kind ${header.type} cannot be read`);
    const count = sizeOf(form.num_values, MAX_PAGE_VALUES);
    const page = header.data_page_header === undefined ? this.#second(header, bytes) : this.#first(header, bytes);
    const { definitions, repetitions, rest } = page;
    const { maxDefinition } = this.#column;
    let present = count;
    if (definitions !== undefined) for (const level of definitions) if (level !== maxDefinition) present--;
    const values = pageValues(rest, { encoding: form.encoding, count: present }, this.#column, this.#dictionary);
    return { count, definitions: present === count ? undefined : definitions, repetitions, values, at: 0 };
  }

  /** Reads a page of version 1: everything is compressed, and levels begin with their length. */
  #first(header: PageHeader, bytes: Uint8Array): PageParts {
    const { maxDefinition, maxRepetition } = this.#column;
    const page = decompressed(bytes, header.uncompressed_page_size, this.#column);
    const count = header.data_page_header!.num_values;
    let offset = 0;
    const levels = (most: number) => {
      if (most === 0) return undefined;
      const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
      const start = offset + 4;
      offset = start + view.getUint32(offset, true);
      return levelsOf(page, start, offset, most, count);
    };
    const repetitions = levels(maxRepetition);
    const definitions = levels(maxDefinition);
    return { repetitions, definitions, rest: page.subarray(offset) };
  }

  /**
   * Reads a page of version 2: the header contains the lengths of the levels, which are not
   * compressed.
   */
  #second(header: PageHeader, bytes: Uint8Array): PageParts {
    const { maxDefinition, maxRepetition } = this.#column;
    const form = header.data_page_header_v2!;
    const count = form.num_values;
    const middle = sizeOf(form.repetition_levels_byte_length, bytes.length);
    const end = middle + sizeOf(form.definition_levels_byte_length, bytes.length - middle);
    const packed = bytes.subarray(end);
    const size = sizeOf(header.uncompressed_page_size - end, MAX_PAGE_BYTES);
    return {
      repetitions: maxRepetition === 0 ? undefined : levelsOf(bytes, 0, middle, maxRepetition, count),
      definitions: maxDefinition === 0 ? undefined : levelsOf(bytes, middle, end, maxDefinition, count),
      rest: form.is_compressed === false ? packed : decompressed(packed, size, this.#column),
    };
  }
}

interface PageParts {
  readonly repetitions: SmallIntegers | undefined;
  readonly definitions: SmallIntegers | undefined;
  readonly rest: Uint8Array;
}

/** The bytes of a chunk, which are read in windows. */
class ChunkBytes {
  readonly #file: RangeFile;
  readonly #end: number;
  /** File offset of the next byte. */
  #at: number;
  #window: Uint8Array = new Uint8Array();
  #windowStart = 0;

  constructor(file: RangeFile, start: number, end: number) {
    this.#file = file;
    this.#at = start;
    this.#end = end;
  }

  /**
   * True if no page is left. A single remaining byte is not a page; some writers leave one at the
   * end.
   */
  get ended(): boolean {
    return this.#at >= this.#end - 1;
  }

  header(): PageHeader {
    for (let size = WINDOW_BYTES; ; size *= 8) {
      const bytes = this.#ahead(size);
      const reader = { view: new DataView(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
      try {
        const header = parquetHeader(reader);
        this.#at += reader.offset;
        return header;
      } catch (error) {
        // The header may end after the bytes read so far.
        if (size >= MAX_HEADER_BYTES || this.#at + size >= this.#end) throw error;
      }
    }
  }

  take(size: number): Uint8Array {
    if (size > this.#end - this.#at) throw new Error('a page ends after the end of its column');
    const bytes = this.#ahead(size).subarray(0, size);
    this.#at += size;
    // A large compressed page is released now, so that it is not held in addition to its contents.
    if (size > WINDOW_BYTES) this.#window = new Uint8Array();
    return bytes;
  }

  /**
   * Returns at least the next `size` bytes without consuming them; fewer only at the end of the
   * chunk.
   */
  #ahead(size: number): Uint8Array {
    const end = Math.min(this.#end, this.#at + size);
    if (this.#at < this.#windowStart || end > this.#windowStart + this.#window.length) {
      const readEnd = Math.min(this.#end, this.#at + Math.max(size, WINDOW_BYTES));
      this.#window = new Uint8Array(this.#file.slice(this.#at, readEnd));
      this.#windowStart = this.#at;
    }
    return this.#window.subarray(this.#at - this.#windowStart);
  }
}

function levelsOf(bytes: Uint8Array, start: number, end: number, most: number, count: number): SmallIntegers {
  if (end > bytes.length) throw new Error('the levels of a page end after the end of the page');
  const levels = readRuns(bytes.subarray(0, end), start, 32 - Math.clz32(most), count);
  for (const level of levels) if (level > most) throw new Error('a page has a level that its column does not have');
  return levels;
}

function sizeOf(size: number | undefined, most: number): number {
  if (size === undefined || !Number.isInteger(size) || size < 0) throw new Error('a page has no size');
  if (size > most) throw new Error(`a page has the size ${size}, over the limit of ${most}`);
  return size;
}
