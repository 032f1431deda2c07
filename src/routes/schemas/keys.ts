// Schemas of API keys.

import { KEY_ROLES, MAX_DESCRIPTION_LENGTH, MAX_EXPIRES_DAYS } from '../../access/key-record.ts';
import { described, finite, text, titled, v } from '../../http/schema.ts';
import { count } from './rows.ts';

const role = () => v.picklist(KEY_ROLES, 'must be readonly, readwrite or admin');

const lastingEntries = {
  key_id: v.string(),
  description: v.string(),
  role: role(),
  created_at: described(count(), 'Epoch seconds.'),
  expires_at: described(v.nullable(count()), 'Epoch seconds; null: never.'),
};

export const keyItem = titled(
  v.object({
    ...lastingEntries,
    last_used_at: described(
      v.nullable(count()),
      'Epoch seconds; null: never. After a crash it may be a minute behind.',
    ),
  }),
  'Key',
);

export const createdKey = titled(
  v.object({ ...lastingEntries, plaintext_key: described(v.string(), 'The key itself; shown here only.') }),
  'CreatedKey',
);

export const keyBody = v.pipe(
  v.object({
    role: role(),
    description: v.optional(
      v.pipe(text(), v.maxLength(MAX_DESCRIPTION_LENGTH, `must have at most ${MAX_DESCRIPTION_LENGTH} characters`)),
    ),
    expires_days: v.optional(
      v.pipe(
        finite(),
        v.gtValue(0, 'must be greater than 0'),
        v.maxValue(MAX_EXPIRES_DAYS, `must be at most ${MAX_EXPIRES_DAYS}`),
        v.description('Fractions are allowed. Default: the key never expires.'),
      ),
    ),
  }),
  v.examples([{ role: 'readonly', description: 'dashboard', expires_days: 90 }]),
);

export const keyParameters = v.object({ key_id: text() });

export const revokeAnswer = v.object({ key_id: v.string(), revoked: v.literal(true) });
