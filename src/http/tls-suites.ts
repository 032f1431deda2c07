// The TLS parameters: versions 1.2 and 1.3, only suites with forward secrecy and authenticated
// encryption.

import { bytesOf } from './byte-text.ts';

/**
 * Suites of TLS 1.2 by their OpenSSL names, preferred first. All suites of TLS 1.3 qualify and are
 * not listed.
 */
export const TLS_SUITES: readonly string[] = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/**
 * Value of Strict-Transport-Security: for a year, browsers that saw a valid certificate use https
 * only.
 */
export const HSTS = bytesOf('max-age=31536000');
