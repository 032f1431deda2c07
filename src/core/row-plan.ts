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

/**
 * `roles`: names of the table's roles in the order of their bits; rows then have the field `roles`.
 */
export function buildRowPlan(columns: readonly PlanColumn[], roles: readonly string[] = []): RowPlan {
  const texts = columns.map((column) => ({
    key: Buffer.from(`,${JSON.stringify(column.name)}:`),
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
  view.setUint16(2, roles.length, true);
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
