// Schemas of backups: the request and the answer.

import { described, text, v } from '../../http/schema.ts';
import { count } from './rows.ts';

export const backupBody = v.pipe(
  v.object({
    backup_dir: v.optional(
      described(text(), 'Directory below the backup root of the server. Default: the root itself.'),
    ),
    compact_first: v.optional(described(v.boolean('must be true or false'), 'Default false.')),
  }),
  v.examples([{ backup_dir: 'nightly', compact_first: true }]),
);

export const backupAnswer = v.object({
  path: described(v.string(), 'Absolute path of the archive on the server.'),
  size_bytes: count(),
  tables: v.array(v.string()),
  compact_first: v.boolean(),
});
