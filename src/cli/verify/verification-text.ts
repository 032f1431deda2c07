// Formats the report of a verification as text.

import type { VerifyReport } from '../../engine/index.ts';
import { problemText, tableText } from '../inspect/text.ts';

export function verificationText(report: VerifyReport): string[] {
  const { path, lock, manifest_lsn, log, tables, documents, stored_answers, notes, problems } = report;
  const lines = [`data directory ${path}`];
  if (lock !== null) lines.push(`locked by ${lock}: a server may run on it; what it writes meanwhile is not a problem`);
  lines.push(manifest_lsn === null ? 'no manifest' : `manifest at LSN ${manifest_lsn}`);
  const end = log.head_lsn === null ? 'end unknown' : `up to LSN ${log.head_lsn}`;
  lines.push(`log of ${log.files} files, ${log.frames} frames, ${log.operations} operations, ${end}`);
  if (tables.length > 0) {
    const head = ['table', 'number', 'segments', 'rows', 'bytes', 'inserts in the log', 'deletes in the log'];
    const rows = tables.map((table) => [
      table.name,
      table.number,
      table.segments,
      table.rows,
      table.bytes,
      table.log_inserts,
      table.log_tombstones,
    ]);
    lines.push(...tableText(head, rows).map((line) => `  ${line}`));
  }
  lines.push(`${documents} documents, ${stored_answers} stored answers`);
  lines.push(...notes.map((note) => `note: ${note}`), ...problems.map(problemText));
  lines.push(problems.length === 0 ? 'OK: every checksum and every invariant holds' : `${problems.length} PROBLEMS`);
  return lines;
}
