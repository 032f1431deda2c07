// The caller of a request, as found by checking the key of the request: a plain value.

/** Each role has the rights of the roles before it and more. */
export type KeyRole = 'readonly' | 'readwrite' | 'admin';

export interface Principal {
  /** Identifier of the key; null if no key was needed. */
  readonly keyId: string | null;
  /** `none` is the role of an unidentified caller on a route that needs no key. */
  readonly role: KeyRole | 'none';
}

/** Every caller while keys are disabled. */
export const EVERYONE: Principal = Object.freeze({ keyId: null, role: 'admin' });
/** A caller without a valid key. */
export const NOBODY: Principal = Object.freeze({ keyId: null, role: 'none' });

const RANK: Readonly<Record<KeyRole | 'none', number>> = { none: 0, readonly: 1, readwrite: 2, admin: 3 };

/** Returns true if a caller with `role` may use a route that requires `needed`. */
export function includesRole(role: KeyRole | 'none', needed: KeyRole | 'none'): boolean {
  return RANK[role] >= RANK[needed];
}

/** Checks keys; the only interface to them that the guard in http/ uses. */
export interface Authenticator {
  /**
   * Returns the caller to whom the key belongs, or undefined if the key is unknown, revoked or
   * expired. Records when the key was last used. The check takes the same time for all unknown
   * keys.
   */
  authenticate(key: string): Principal | undefined;
}
