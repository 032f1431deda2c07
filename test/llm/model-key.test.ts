import { describe, expect, it } from 'vitest';
import { type KeyChoice, keyFor } from '../../src/llm/index.ts';

const OWN = 'sk-own-0123456789abcdef';
const THEIRS = 'sk-theirs-0123456789abcdef';

const choose = (choice: Partial<KeyChoice>) =>
  keyFor({
    requestedBaseUrl: undefined,
    requestedKey: undefined,
    configuredBaseUrl: 'https://api.openai.com/v1',
    configuredKey: OWN,
    ...choice,
  });

describe('keyFor', () => {
  it('returns the key in the request, for any address', () => {
    expect(choose({ requestedKey: THEIRS })).toBe(THEIRS);
    expect(choose({ requestedKey: THEIRS, requestedBaseUrl: 'https://other.example/v1' })).toBe(THEIRS);
    expect(choose({ requestedKey: THEIRS, configuredKey: undefined })).toBe(THEIRS);
  });

  it("returns the server's key for the configured address", () => {
    const same = [
      undefined,
      null,
      'https://api.openai.com/v1',
      'https://API.openai.com./v1/',
      'https://api.openai.com:443/v1',
    ];
    for (const requestedBaseUrl of same) expect(choose({ requestedBaseUrl }), String(requestedBaseUrl)).toBe(OWN);
    expect(choose({ requestedKey: null })).toBe(OWN);
    expect(choose({ requestedKey: '' })).toBe(OWN);
    expect(choose({ configuredKey: undefined })).toBeUndefined();
  });

  it.each([
    'https://evil.example/v1',
    'https://api.openai.com/v2',
    'https://api.openai.com/v1/chat/completions',
    'https://api.openai.com',
    'https://api.openai.com.evil.example/v1',
    'https://api.openai.com@evil.example/v1',
    'https://evil.example/api.openai.com',
    'https://evil.example\\@api.openai.com/v1',
    'https://api.openai.com\t.evil.example/',
    'https://api.openai.com:8443/v1',
    'http://api.openai.com/v1',
    'https://xapi.openai.com/v1',
    'https://openai.com/v1',
    'https://api.openai.com../v1',
    'https://api.openai。com.evil.example/v1',
    'api.openai.com',
    '//api.openai.com/v1',
    '',
    ' https://api.openai.com/v1',
  ])("does not return the server's key for %j", (requestedBaseUrl) => {
    expect(choose({ requestedBaseUrl })).toBeUndefined();
  });

  it.each([['a b'], ['abc\r\nX-Other: 1'], ['abc\n'], ['schlüssel'], ['\0'], ['k'.repeat(1025)], ['\x7f']])(
    'throws for a key that is not valid in a header: %j',
    (requestedKey) => {
      let thrown: unknown;
      try {
        choose({ requestedKey });
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toMatchObject({ code: 'invalid_input' });
      const { message } = thrown as Error;
      expect(message).toMatch(/printable ASCII/);
      if (requestedKey.length > 3) expect(message).not.toContain(requestedKey.slice(0, 4));
    },
  );
});
