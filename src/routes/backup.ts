// Backups: writes an archive of the whole database, at one log position, to a directory on the
// server.

import { jsonReply } from '../http/index.ts';
import { type Route, validated } from './application.ts';
import { backupAnswer, backupBody } from './schemas/backup.ts';

const create = validated({
  id: 'createBackup',
  method: 'POST',
  path: '/v1/backup',
  role: 'admin',
  summary:
    'Write a backup of the whole database on the server. The answer is sent when it is durable; writes continue meanwhile.',
  audit: 'backup.created',
  idempotent: true,
  isLocal: true,
  body: backupBody,
  bodyOptional: true,
  answers: { 200: backupAnswer },
  errors: [500],
  handler: async ({ body }, { database, services }) => {
    const dir = database.backupDirectory(services.backupRoot, body.backup_dir);
    const compactFirst = body.compact_first ?? false;
    const { path, sizeBytes, tables } = await database.backup({ dir, compactFirst });
    return jsonReply(200, { path, size_bytes: sizeBytes, tables, compact_first: compactFirst });
  },
});

export const backupRoutes: readonly Route[] = [create];
