// The text blocks over rows of memtables, of all tables: a cache, charged to the memory budget, and
// dropped with its memtable or when others need the room. Without a block, a search reads the rows
// one by one.

import type { Core, CoreMemtable } from '../../core/index.ts';
import type { TextWork } from '../compaction/work.ts';
import { PIECE_BYTES, type PieceOptions, TextPieces } from './text-pieces.ts';

export interface MemtableTextsOptions {
  /** Rows of a full block. */
  readonly pieceRows: number;
  /** Maximum size in bytes of the instances with blocks. */
  readonly limitBytes: number;
  /** Charges bytes to the memory budget; a negative number releases them. */
  readonly charge: (bytes: number) => void;
  /** Throws `overloaded` when no instance can be created. */
  readonly instantiate: () => Core;
}

/** Maximum number of memtables with blocks: each needs an instance. */
const MOST_MEMTABLES = 64;
/** An instance for building that has grown beyond this is not used again. */
const MOST_KEPT_BYTES = 2 ** 23;

export class MemtableTexts {
  readonly #options: MemtableTextsOptions;
  readonly #pieceOptions: PieceOptions;
  /** Least recently used first. */
  readonly #pieces = new Map<CoreMemtable, TextPieces>();
  /** The instance in which blocks are built, while there are any. */
  #builder: Core | undefined;
  #bytes = 0;

  constructor(options: MemtableTextsOptions) {
    this.#options = options;
    this.#pieceOptions = {
      pieceRows: options.pieceRows,
      builder: () => this.#makeBuilder(),
      instantiate: options.instantiate,
      measured: () => {
        this.#measure();
        return this.#blockBytes < options.limitBytes;
      },
    };
  }

  #makeBuilder(): Core {
    // The memory of an instance does not shrink, and rows of long texts need much.
    if (this.#builder !== undefined && this.#builder.memory.size > MOST_KEPT_BYTES) this.#builder = undefined;
    this.#builder ??= this.#options.instantiate();
    return this.#builder;
  }

  get #blockBytes(): number {
    let bytes = 0;
    for (const pieces of this.#pieces.values()) bytes += pieces.bytes;
    return bytes;
  }

  /** Size in bytes of all instances: with blocks, and to build them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of memtables that may have blocks. */
  get count(): number {
    return this.#pieces.size;
  }

  /**
   * Returns the blocks of a memtable, of which there are none at first. Those of another index of
   * the table are dropped. Others may be dropped at any time; a search keeps what is returned here
   * until its end, so that two searches do not take each other's blocks for ever.
   */
  of(memtable: CoreMemtable, work: TextWork): TextPieces {
    let pieces = this.#pieces.get(memtable);
    if (pieces !== undefined && pieces.tag !== work.tag) {
      this.release(memtable);
      pieces = undefined;
    }
    if (pieces === undefined) {
      this.#makeRoom();
      pieces = new TextPieces(memtable, work, this.#pieceOptions);
    }
    this.#pieces.delete(memtable);
    this.#pieces.set(memtable, pieces);
    return pieces;
  }

  /**
   * Returns the blocks of a memtable for those who build before a search: only if the memtable is
   * worth a block, and has some or others need not be dropped for them. It counts as no use.
   */
  ahead(memtable: CoreMemtable, work: TextWork): TextPieces | undefined {
    const pieces = this.#pieces.get(memtable);
    if (pieces?.tag === work.tag) return pieces;
    const isSmall = memtable.rows < this.#options.pieceRows && memtable.recordBytes < PIECE_BYTES;
    return isSmall || this.#isFull ? undefined : this.of(memtable, work);
  }

  /** Returns the number of rows of a memtable, from 0 on, that blocks cover, and of their bytes. */
  coveredOf(memtable: CoreMemtable): { readonly rows: number; readonly bytes: number } {
    const pieces = this.#pieces.get(memtable);
    return { rows: pieces?.covered ?? 0, bytes: pieces?.coveredBytes ?? 0 };
  }

  /** Returns the blocks of a memtable for an index, if there are any yet. */
  known(memtable: CoreMemtable, tag: number): TextPieces | undefined {
    const pieces = this.#pieces.get(memtable);
    return pieces?.tag === tag ? pieces : undefined;
  }

  /** Drops the blocks of a memtable, because it is freed. */
  release(memtable: CoreMemtable): void {
    const pieces = this.#pieces.get(memtable);
    if (pieces === undefined) return;
    pieces.close();
    this.#pieces.delete(memtable);
    if (this.#pieces.size === 0) this.#builder = undefined;
    this.#measure();
  }

  get #isFull(): boolean {
    return this.#blockBytes >= this.#options.limitBytes || this.#pieces.size >= MOST_MEMTABLES;
  }

  #makeRoom(): void {
    while (this.#pieces.size > 0 && this.#isFull) {
      const [oldest] = this.#pieces.keys();
      this.release(oldest!);
    }
  }

  /** Charges what the instances have grown by. */
  #measure(): void {
    const bytes = (this.#builder?.memory.size ?? 0) + this.#blockBytes;
    this.#options.charge(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}
