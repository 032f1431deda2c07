// Who a request comes from: the result of checking its key, as a plain value.

/** Each includes the ones before it (specification section 5). */
export type KeyRole = 'readonly' | 'readwrite' | 'admin';

export interface Principal {
  /** Identifier of the key; null: no key was needed. */
  readonly keyId: string | null;
  /** `none`: nobody known, on a route that asks for no key. */
  readonly role: KeyRole | 'none';
}

/** Everyone, while no keys are asked for. */
export const EVERYONE: Principal = Object.freeze({ keyId: null, role: 'admin' });
/** A caller without a valid key. */
export const NOBODY: Principal = Object.freeze({ keyId: null, role: 'none' });

const RANK: Readonly<Record<KeyRole | 'none', number>> = { none: 0, readonly: 1, readwrite: 2, admin: 3 };

/** True when a caller of `role` may use what needs `needed`. */
export function includesRole(role: KeyRole | 'none', needed: KeyRole | 'none'): boolean {
  return RANK[role] >= RANK[needed];
}

/** Checks keys; the guard of http/ knows no more of them than this. */
export interface Authenticator {
  /** Undefined: unknown, revoked or expired. An unknown key takes the same time whatever it is. Remembers when the key was last used. */
  authenticate(key: string): Principal | undefined;
}
