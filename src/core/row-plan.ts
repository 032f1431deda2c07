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
  /** Names of the table's roles in the order of their bits; rows then have the field `roles`. */
  readonly roles?: readonly string[] | undefined;
}

/** Flags in the second half of the first word, above the number of roles. */
const NAMED = 0x8000;
const NODE = 0x4000;

export function buildRowPlan(columns: readonly PlanColumn[], options: RowPlanOptions = {}): RowPlan {
  const isNode = options.head === 'node';
  const { roles = [] } = options;
  const texts = columns.map((column, index) => ({
    key: Buffer.from(`${isNode && index === 0 ? '' : ','}${JSON.stringify(column.name)}:`),
    missing: Buffer.from(column.missing),
  }));
  const roleTexts = roles.map((role, index) =>
    Buffer.from(`${index === 0 ? ',"roles":{' : '],'}${JSON.stringify(role)}:[`),
  );
  const roleStart = 4 + columns.length * 20;
  const head = roleStart + roles.length * 8;
  const bytes = new Uint8Array(
    head +
      texts.reduce((sum, text) => sum + text.key.length + text.missing.length, 0) +
      roleTexts.reduce((sum, text) => sum + text.length, 0),
  );
  const view = new DataView(bytes.buffer);
  view.setUint16(0, columns.length, true);
  view.setUint16(2, roles.length | (options.named ? NAMED : 0) | (isNode ? NODE : 0), true);
  let at = head;
  for (const [index, text] of roleTexts.entries()) {
    view.setUint32(roleStart + index * 8, at, true);
    view.setUint32(roleStart + index * 8 + 4, text.length, true);
    bytes.set(text, at);
    at += text.length;
  }
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
