// `hedgerow keys create|list|revoke`: manages the API keys of a server or a data directory.

import { KEY_ROLES, type KeyItem, MAX_DESCRIPTION_LENGTH, MAX_EXPIRES_DAYS } from '../../access/key-record.ts';
import type { NewKey } from '../../access/keys.ts';
import { printable, tableText } from '../table-text.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { type AccessFlags, type KeyAccess, openKeyAccess } from './access.ts';

export interface KeysFlags extends AccessFlags {
  json?: boolean | undefined;
}

export interface CreateFlags extends KeysFlags {
  role?: string | undefined;
  description?: string | undefined;
  expiresDays?: string | undefined;
}

/**
 * Creates a key and shows it. This function and the two below resolve with the exit code: 0 on
 * success, 1 on failure, 2 for a wrong call.
 */
export function keysCreateCommand(flags: CreateFlags, world: World): Promise<number> {
  return withAccess(flags, true, world, async (access) => {
    const created = await access.create(newKeyOf(flags));
    if (flags.json) return json(created);
    const { key_id, role, description, expires_at, plaintext_key } = created;
    const lines = [
      ['key_id', key_id],
      ['role', role],
      ['description', description || '-'],
      ['expires', timeText(expires_at, 'never')],
      ['key', plaintext_key],
    ];
    return `${lines.map(([name, value]) => `${name!.padEnd(11)}  ${printable(value!)}`).join('\n')}\n\nThe key is shown this once only.\n`;
  });
}

export function keysListCommand(flags: KeysFlags, world: World): Promise<number> {
  return withAccess(flags, false, world, async (access) => {
    const keys = await access.list();
    return flags.json ? json(keys) : tableText(HEADER, keys.map(cellsOf));
  });
}

export function keysRevokeCommand(keyId: string, flags: KeysFlags, world: World): Promise<number> {
  return withAccess(flags, false, world, async (access) => {
    await access.revoke(keyId);
    return flags.json ? json({ key_id: keyId, revoked: true }) : `${keyId} is revoked.\n`;
  });
}

async function withAccess(
  flags: CreateFlags,
  isCreate: boolean,
  world: World,
  work: (access: KeyAccess) => Promise<string>,
): Promise<number> {
  try {
    if (isCreate) newKeyOf(flags);
    const access = await openKeyAccess(flags, isCreate, world);
    try {
      // Written before the close, which may fail: the user must see a key that was created.
      world.stdout.write(await work(access));
    } finally {
      await access.close();
    }
    return 0;
  } catch (error) {
    return reportFailure(world, error);
  }
}

function newKeyOf({ role: given, description, expiresDays }: CreateFlags): NewKey {
  const role = KEY_ROLES.find((name) => name === given);
  if (role === undefined) throw new UsageError(`keys create needs --role, one of ${KEY_ROLES.join(', ')}.`);
  const input: NewKey = { role };
  if (description !== undefined) {
    if (description.length > MAX_DESCRIPTION_LENGTH) {
      throw new UsageError(`--description takes at most ${MAX_DESCRIPTION_LENGTH} characters.`);
    }
    input.description = description;
  }
  if (expiresDays !== undefined) {
    const days = /^\d{1,15}(\.\d{1,15})?$/.test(expiresDays) ? Number(expiresDays) : Number.NaN;
    if (!(days > 0 && days <= MAX_EXPIRES_DAYS)) {
      const given = JSON.stringify(expiresDays);
      throw new UsageError(`--expires-days is ${given}, but it takes a number above 0, at most ${MAX_EXPIRES_DAYS}.`);
    }
    input.expiresDays = days;
  }
  return input;
}

const HEADER = ['key_id', 'role', 'created', 'last used', 'expires', 'description'];

function cellsOf({ key_id, role, created_at, last_used_at, expires_at, description }: KeyItem): string[] {
  const isExpired = expires_at !== null && expires_at * 1000 <= Date.now();
  const expires = timeText(expires_at, 'never') + (isExpired ? ' (expired)' : '');
  return [key_id, role, timeText(created_at, '-'), timeText(last_used_at, 'never'), expires, description || '-'];
}

/**
 * Formats epoch seconds as `2026-01-31T10:00:00Z`; a number outside the range of dates stays a
 * number.
 */
function timeText(seconds: number | null, none: string): string {
  if (seconds === null) return none;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace('.000Z', 'Z');
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
