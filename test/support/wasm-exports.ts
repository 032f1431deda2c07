// Reads the imports and exports of a WebAssembly binary with their types, and parses only the parts
// of the format that this requires.

const VALUE_TYPES: Record<number, string> = {
  127: 'i32',
  126: 'i64',
  125: 'f32',
  124: 'f64',
  123: 'v128',
  112: 'funcref',
  111: 'externref',
};
const KINDS = ['func', 'table', 'memory', 'global'] as const;
const SECTION = { type: 1, import: 2, function: 3, table: 4, memory: 5, global: 6, export: 7 } as const;

export interface WasmExport {
  name: string;
  kind: (typeof KINDS)[number];
  /** `(i32 f64) -> i32`, `i32`, `mut i32`, or the page limits of a memory. */
  type: string;
}

class Reader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.at++]!;
  }

  /** Reads an unsigned LEB128 number. */
  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  take(length: number): Uint8Array {
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  name(): string {
    return new TextDecoder().decode(this.take(this.number()));
  }

  list<T>(item: () => T): T[] {
    return Array.from({ length: this.number() }, item);
  }
}

function sectionsOf(bytes: Uint8Array): Map<number, Reader> {
  const reader = new Reader(bytes);
  reader.take(8);
  const sections = new Map<number, Reader>();
  while (!reader.done) {
    const id = reader.byte();
    sections.set(id, new Reader(reader.take(reader.number())));
  }
  return sections;
}

function readSignature(reader: Reader): string {
  reader.byte(); // 0x60: function type
  const types = () => reader.list(() => VALUE_TYPES[reader.byte()]).join(' ');
  return `(${types()}) -> ${types() || 'nothing'}`;
}

function readGlobal(reader: Reader): string {
  const type = VALUE_TYPES[reader.byte()]!;
  const mutable = reader.byte() === 1;
  while (reader.byte() !== 0x0b) {
    // A constant expression is an opcode 0x41 to 0x44 with its operand, then 0x0b (end).
    reader.at--;
    const opcode = reader.byte();
    if (opcode === 0x44) reader.take(8);
    else if (opcode === 0x43) reader.take(4);
    else while (reader.byte() >= 128);
  }
  return mutable ? `mut ${type}` : type;
}

function readLimits(reader: Reader): string {
  const flags = reader.number();
  const least = reader.number();
  return (flags & 1) === 1 ? `pages, at most ${reader.number()}` : `pages, no maximum (starts with ${least})`;
}

/** Returns one empty string for each import of the module, so only the count is useful. */
export function wasmImports(bytes: Uint8Array): string[] {
  return (
    sectionsOf(bytes)
      .get(SECTION.import)
      ?.list(() => '') ?? []
  );
}

/** Returns everything that the module exports, by name. The module must not import anything. */
export function wasmExports(bytes: Uint8Array): WasmExport[] {
  const sections = sectionsOf(bytes);
  const list = <T>(id: number, item: (reader: Reader) => T): T[] => {
    const reader = sections.get(id);
    return reader ? reader.list(() => item(reader)) : [];
  };
  const signatures = list(SECTION.type, readSignature);
  const functions = list(SECTION.function, (reader) => signatures[reader.number()]!);
  const globals = list(SECTION.global, readGlobal);
  const memories = list(SECTION.memory, readLimits);
  const exports = list(SECTION.export, (reader) => {
    const name = reader.name();
    const kind = KINDS[reader.byte()]!;
    const index = reader.number();
    const type =
      kind === 'func'
        ? functions[index]!
        : kind === 'global'
          ? globals[index]!
          : kind === 'memory'
            ? memories[index]!
            : '';
    return { name, kind, type };
  });
  return exports.sort((a, b) => (a.name < b.name ? -1 : 1));
}
