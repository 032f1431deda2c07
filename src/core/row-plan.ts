// The row plan: which columns appear in row text, under which keys, and the default for rows that
// do not have a column.

export interface PlanColumn {
  id: number;
  name: string;
  /** JSON text of the column's default; `null` if the column has none. */
  missing: string;
}

/**
 * A plan in the encoding of `hg_segment_json` (assembly/json/rows.ts). It is uploaded once per
 * instance, so do not change it: an upload is recognised by the identity of this object.
 */
export interface RowPlan {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface RowPlanOptions {
  /** Members are written as marks, which `KeyDictionary.translate` replaces by keys. */
  readonly named?: boolean;
  /**
   * `edge`: a row begins with its id, time and members. `node`: a row of a node table, which is
   * only its columns.
   */
  readonly head?: 'edge' | 'node';
}

/** Flags in the upper half of the first word. */
const NAMED = 0x80000000;
const NODE = 0x40000000;

export function buildRowPlan(columns: readonly PlanColumn[], options: RowPlanOptions = {}): RowPlan {
  const isNode = options.head === 'node';
  const texts = columns.map((column, index) => ({
    key: Buffer.from(`${isNode && index === 0 ? '' : ','}${JSON.stringify(column.name)}:`),
    missing: Buffer.from(column.missing),
  }));
  const head = 4 + columns.length * 20;
  const bytes = new Uint8Array(head + texts.reduce((sum, text) => sum + text.key.length + text.missing.length, 0));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, columns.length + (options.named ? NAMED : 0) + (isNode ? NODE : 0), true);
  let at = head;
  for (const [index, column] of columns.entries()) {
    const { key, missing } = texts[index]!;
    const entry = 4 + index * 20;
    view.setUint32(entry, column.id, true);
    view.setUint32(entry + 4, at, true);
    view.setUint32(entry + 8, key.length, true);
    bytes.set(key, at);
    at += key.length;
    view.setUint32(entry + 12, at, true);
    view.setUint32(entry + 16, missing.length, true);
    bytes.set(missing, at);
    at += missing.length;
  }
  return { bytes };
}
