// The stored record of an API key (its SHA-256, never the key itself), and the forms in which
// answers describe a key.

import * as crypto from 'node:crypto';
import { HedgerowError } from '../errors.ts';
import type { KeyRole } from './principal.ts';

export const KEY_ROLES: readonly KeyRole[] = ['readonly', 'readwrite', 'admin'];
export const KEY_PREFIX = 'hgr_';
/** In characters. */
export const MAX_DESCRIPTION_LENGTH = 1024;
/** About 2,700 years. */
export const MAX_EXPIRES_DAYS = 1_000_000;
export const DAY_MS = 86_400_000;
const KEY_BYTES = 32;
const ID_BYTES = 8;

/** A key as it is stored in the document store `keys`. Times are in epoch milliseconds. */
export interface KeyRecord {
  readonly key_id: string;
  /** Hexadecimal digest of the key. */
  readonly sha256: string;
  readonly role: KeyRole;
  readonly description: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
}

/** A key as answers list it. Times are in epoch seconds. */
export interface KeyItem {
  key_id: string;
  description: string;
  role: KeyRole;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
}

/** The answer when a key is created. Only this form contains the key itself; it is not stored. */
export interface CreatedKey {
  key_id: string;
  description: string;
  role: KeyRole;
  created_at: number;
  expires_at: number | null;
  plaintext_key: string;
}

export type RandomBytes = (count: number) => Uint8Array;

export function makeKey(randomBytes: RandomBytes): string {
  return KEY_PREFIX + Buffer.from(randomBytes(KEY_BYTES)).toString('base64url');
}

/** Makes a random identifier, which reveals nothing about the key itself. */
export function makeKeyId(randomBytes: RandomBytes): string {
  return `key_${Buffer.from(randomBytes(ID_BYTES)).toString('hex')}`;
}

/**
 * Returns the hexadecimal SHA-256 of a key. Uses `crypto.hash` if Node has it (from version
 * 20.12).
 */
export const sha256Hex: (key: string) => string =
  typeof crypto.hash === 'function'
    ? (key) => crypto.hash('sha256', key, 'hex')
    : (key) => crypto.createHash('sha256').update(key).digest('hex');

export function itemOf(record: KeyRecord, lastUsedMs: number | null): KeyItem {
  return {
    key_id: record.key_id,
    description: record.description,
    role: record.role,
    created_at: seconds(record.created_at),
    last_used_at: lastUsedMs === null ? null : seconds(lastUsedMs),
    expires_at: record.expires_at === null ? null : seconds(record.expires_at),
  };
}

export function createdOf(record: KeyRecord, key: string): CreatedKey {
  const { key_id, description, role, created_at, expires_at } = itemOf(record, null);
  return { key_id, description, role, created_at, expires_at, plaintext_key: key };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/**
 * Returns a stored value as a record. Throws `corrupt` if it is not one: the key store does not
 * open if any of its records is unreadable.
 */
export function checkedRecord(id: string, value: unknown): KeyRecord {
  const record = value as KeyRecord;
  const isWhole =
    typeof value === 'object' &&
    value !== null &&
    record.key_id === id &&
    /^[0-9a-f]{64}$/.test(record.sha256) &&
    KEY_ROLES.includes(record.role) &&
    typeof record.description === 'string' &&
    Number.isFinite(record.created_at) &&
    isTimeOrNull(record.expires_at) &&
    isTimeOrNull(record.last_used_at);
  if (isWhole) return record;
  throw new HedgerowError('corrupt', `The stored key ${JSON.stringify(id)} cannot be read. Restore a backup.`);
}

function isTimeOrNull(value: unknown): boolean {
  return value === null || Number.isFinite(value);
}
