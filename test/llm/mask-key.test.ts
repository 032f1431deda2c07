import { describe, expect, it } from 'vitest';
import { maskKey } from '../../src/llm/index.ts';
import { fc } from '../support/property.ts';

const KEY = 'sk-proj-A"b/c+d=e&f<g>h\\i%j_0123456789';

describe('maskKey', () => {
  it.each([
    ['as it is', KEY],
    ['as JSON writes it', JSON.stringify(KEY)],
    ['as JSON in JSON writes it', JSON.stringify(JSON.stringify(KEY))],
    ['as JSON may escape it', [...KEY].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')],
    ['as an address writes it', encodeURIComponent(KEY)],
    ['as an address may write it', [...KEY].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')],
    ['as a form writes it', new URLSearchParams({ k: KEY }).toString()],
    [
      'as HTML writes it',
      KEY.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),
    ],
    ['as HTML may write it', [...KEY].map((c) => `&#${c.charCodeAt(0)};`).join('')],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64url', Buffer.from(KEY).toString('base64url')],
    ['in base64 behind one byte', Buffer.from(`:${KEY}`).toString('base64')],
    ['in base64 within a header', Buffer.from(`Authorization: Bearer ${KEY}\r\n`).toString('base64')],
    ['in base64 behind two bytes', Buffer.from(`u:${KEY}:x`).toString('base64')],
    ['in hex', Buffer.from(KEY).toString('hex')],
    ['in upper-case hex', Buffer.from(KEY).toString('hex').toUpperCase()],
  ])('masks the key %s', (_, spelled) => {
    const masked = maskKey(`before ${spelled}, after ${spelled}`, KEY);
    expect(masked).toContain('[masked]');
    expect(masked.startsWith('before ')).toBe(true);
    expect(masked).toContain('after ');
    // The middle of the key must not be left in any encoding.
    for (const middle of [
      '0123456789',
      'MDEyMzQ1Njc4',
      'AxMjM0NTY3OD',
      'wMTIzNDU2Nzg',
      '30313233',
      '%30%31',
      'u0030',
      '&#48;',
    ])
      expect(masked).not.toContain(middle);
  });

  it('masks any key in any text, in its common spellings', () => {
    const key = fc.stringMatching(/^[\x21-\x7e]{8,200}$/);
    const spelling = fc.constantFrom<(key: string) => string>(
      (text) => text,
      (text) => JSON.stringify(text),
      encodeURIComponent,
      (text) => Buffer.from(`Bearer ${text}`).toString('base64'),
    );
    fc.assert(
      fc.property(key, spelling, fc.string(), (secret, spell, around) => {
        const masked = maskKey(`${around}\n${spell(secret)}\n${around}`, secret);
        expect(masked).not.toContain(secret);
        expect(masked).toContain('[masked]');
      }),
      { numRuns: 200, seed: 6 },
    );
  });

  it('does not change other texts', () => {
    const text = 'Nodes 3 and 9 met at 1700000000 [HEDGE-12]. sk-proj-other 100% "quoted" \\u0041';
    expect(maskKey(text, KEY)).toBe(text);
    expect(maskKey(text, undefined)).toBe(text);
    expect(maskKey(text, '')).toBe(text);
    expect(maskKey(`a${KEY}b`, KEY)).toBe('a[masked]b');
  });

  it('masks a short key only as a whole word, and a very short key never', () => {
    expect(maskKey('abcde, xabcde abcde-x', 'abcde')).toBe('[masked], xabcde abcde-x');
    expect(maskKey('abc', 'abc')).toBe('abc');
  });

  it('masks a long key up to its end, and also a part of it', () => {
    const long = 'k'.repeat(70) + 'z'.repeat(900);
    expect(maskKey(`<${long}>`, long)).toBe('<[masked]>');
    expect(maskKey(`<${long.slice(0, 100)}>`, long)).toBe('<[masked]>');
    // The key and the text nearly match at every position.
    expect(maskKey('k'.repeat(100_000), `${'k'.repeat(1000)}z`)).not.toContain('k'.repeat(64));
    const near = 'k'.repeat(100_000);
    expect(maskKey(near, `${'k'.repeat(60)}zz`)).toBe(near);
  });
});
