import { describe, expect, it, vi } from 'vitest';
import { checkModelAddress } from '../../src/llm/address.ts';
import { createChatModel } from '../../src/llm/index.ts';
import { reachOf } from '../../src/llm/ip-reach.ts';

const PROMPT = { system: 's', user: 'u' };

/** Returns spies for all calls that would leave the process. */
function spies(answers: readonly string[] = []) {
  return {
    resolve: vi.fn(async () => answers),
    post: vi.fn(async () => {
      throw new Error('a connection was made');
    }),
  };
}

/** Makes a request as a route does. Returns the code of the refusal, or `asked`. */
async function ask(
  baseUrl: string,
  allowedHosts: readonly string[],
  ports: ReturnType<typeof spies>,
): Promise<unknown> {
  try {
    const model = createChatModel({ baseUrl, model: 'm', apiKey: undefined, allowedHosts }, ports);
    await model.complete(PROMPT);
    return 'asked';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

/** Addresses that are not public, in plain form, which is also the form that a resolver returns. */
const INNER_ADDRESSES = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '127.0.0.1',
  '127.0.0.53',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.0.1',
  '169.254.169.254',
  '169.254.170.2',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.168.255.255',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.7',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::2',
  '::127.0.0.1',
  '::10.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '64:ff9b:1::8.8.8.8',
  '100::1',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '2002:a9fe:a9fe::',
  '2606:4700::5efe:10.0.0.1',
  '2606:4700::200:5efe:127.0.0.1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fdff::1',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700::1111%eth0',
  'febf::1',
  'fec0::1',
  'ff02::1',
  'ff0e::1',
];

/** Other spellings of addresses of this machine and of private networks. */
const SPELLINGS = [
  '2130706433',
  '0x7f000001',
  '0x7F.1',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '127.1',
  '127.0.1',
  '127.0.0.1.',
  '127.00.00.01',
  '0x7f.0x0.0x0.0x1',
  '0',
  '0.0',
  '0x0',
  '3232235521',
  '0xa9fea9fe',
  '2852039166',
  '169.254.43518',
  '0251.0376.0251.0376',
  '①②⑦.⓪.⓪.①',
  '１２７.０.０.１',
  '127。0。0。1',
  '127．0．0．1',
  '%31%32%37.0.0.1',
  '%6c%6f%63alhost',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:7f00:1]',
  '[::FFFF:127.0.0.1]',
  '[0000::0001]',
  '[fe80::1%25eth0]',
  '[::127.1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'LocalHost.',
  'localhost.localdomain',
  'ip6-localhost',
  'metadata.google.internal',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
];

/** URLs that are refused although api.openai.com, bücher.example and 9.9.9.9 are listed. */
const WRONG_URLS = [
  '',
  ' ',
  'api.openai.com',
  'api.openai.com/v1',
  '//api.openai.com/v1',
  '/v1',
  'https:',
  'https://',
  'https:///api.openai.com/v1',
  'https:/api.openai.com/v1',
  'https:api.openai.com/v1',
  'https:\\\\api.openai.com\\v1',
  'http://api.openai.com/v1',
  'http://9.9.9.9/v1',
  'ftp://api.openai.com/v1',
  'file:///etc/passwd',
  'data:application/json,{}',
  'javascript:alert(1)',
  'gopher://api.openai.com/',
  'wss://api.openai.com/v1',
  'unix:/var/run/docker.sock',
  'https://user@api.openai.com/v1',
  'https://user:password@api.openai.com/v1',
  'https://:password@api.openai.com/v1',
  'https://@api.openai.com/v1',
  'https://api.openai.com@evil.example/v1',
  'https://api.openai.com:443@evil.example/v1',
  'https://evil.example#@api.openai.com/v1',
  'https://evil.example?@api.openai.com/v1',
  'https://evil.example\\@api.openai.com/v1',
  'https://evil.example\\.api.openai.com/v1',
  'https://api.openai.com?x=1',
  'https://api.openai.com/v1?',
  'https://api.openai.com/v1#',
  'https://api.openai.com/v1#fragment',
  'https://api.openai.com.evil.example/v1',
  'https://evil-api.openai.com/v1',
  'https://sub.api.openai.com/v1',
  'https://openai.com/v1',
  'https://api.openai.com../v1',
  'https://.api.openai.com/v1',
  'https://api.openai.com%00.evil.example/v1',
  'https://api.openai.com%2eevil.example/v1',
  'https://api.openai.com\n.evil.example/v1',
  'https://api.open\tai.com/v1',
  'https://api.openai.com/\r\nX-Other: 1',
  ' https://api.openai.com/v1',
  'https://api.openai.com /v1',
  'https://api.openai.com:0/v1',
  'https://api.openai.com:65536/v1',
  'https://api.openai.com:x/v1',
  'https://api.openai.com:-1/v1',
  'https://api.openai.com\u00ad.evil.example/v1',
  'https://[api.openai.com]/v1',
  'https://[::1/v1',
  'https://xn--/v1',
  'https://аpi.openai.com/v1',
  'https://*.openai.com/v1',
  'https://9.9.9/v1',
  'https://9.9.9.8/v1',
  'https://256.9.9.9/v1',
  'https://[::ffff:9.9.9.9]/v1',
  `https://api.openai.com/${'x'.repeat(2048)}`,
  `https://${'a.'.repeat(200)}example/v1`,
];
const LISTED = ['api.openai.com', 'bücher.example', '9.9.9.9'];

describe('a model address', () => {
  it('is tested with more than 150 addresses', () => {
    expect(INNER_ADDRESSES.length + SPELLINGS.length + WRONG_URLS.length).toBeGreaterThan(150);
  });

  it.each(INNER_ADDRESSES)('is refused before any lookup or connection if it is not public: %s', async (inner) => {
    const ports = spies();
    const host = inner.includes(':') ? `[${inner}]` : inner;
    for (const scheme of ['https', 'http'])
      expect(await ask(`${scheme}://${host}/v1`, LISTED, ports)).toBe('invalid_model_address');
    expect(ports.resolve).not.toHaveBeenCalled();
    expect(ports.post).not.toHaveBeenCalled();
  });

  it.each(INNER_ADDRESSES)('is refused before a connection if its name resolves to %s', async (inner) => {
    for (const answers of [[inner], ['9.9.9.9', inner], [inner, '2606:4700::1111']]) {
      const ports = spies(answers);
      expect(await ask('https://api.openai.com/v1', LISTED, ports)).toBe('invalid_model_address');
      expect(ports.resolve).toHaveBeenCalledTimes(1);
      expect(ports.post).not.toHaveBeenCalled();
    }
  });

  it.each(SPELLINGS)('is refused if it is another spelling of a private address: %s', async (host) => {
    const ports = spies(['9.9.9.9']);
    for (const url of [`https://${host}/v1`, `http://${host}/v1`, `https://${host}:8443`])
      expect(await ask(url, LISTED, ports)).toBe('invalid_model_address');
    expect(ports.resolve).not.toHaveBeenCalled();
    expect(ports.post).not.toHaveBeenCalled();
  });

  it.each(WRONG_URLS)('is refused if it is invalid or its host is not listed: %j', async (url) => {
    const ports = spies(['9.9.9.9']);
    expect(await ask(url, LISTED, ports)).toBe('invalid_model_address');
    expect(ports.resolve).not.toHaveBeenCalled();
    expect(ports.post).not.toHaveBeenCalled();
  });

  it.each([['not an address'], ['127.1'], ['localhost'], [''], ['0x7f.1']])(
    'is refused if the resolver does not return an address: %j',
    async (answer) => {
      const ports = spies([answer]);
      expect(await ask('https://api.openai.com/v1', LISTED, ports)).toBe('invalid_model_address');
      expect(ports.post).not.toHaveBeenCalled();
    },
  );

  it.each([
    ['https://api.openai.com/v1', 'https://api.openai.com', '/v1/chat/completions', 'api.openai.com'],
    ['https://api.openai.com', 'https://api.openai.com', '/chat/completions', 'api.openai.com'],
    ['HTTPS://API.OpenAI.com.:8443//v1///', 'https://api.openai.com:8443', '//v1/chat/completions', 'api.openai.com'],
    ['https://api.openai.com/a@b/../v1', 'https://api.openai.com', '/v1/chat/completions', 'api.openai.com'],
    ['https://BÜCHER.example/v1', 'https://xn--bcher-kva.example', '/v1/chat/completions', 'xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example', '/chat/completions', 'xn--bcher-kva.example'],
    ['https://9.9.9.9/v1', 'https://9.9.9.9', '/v1/chat/completions', '9.9.9.9'],
    ['https://0x09090909/v1', 'https://9.9.9.9', '/v1/chat/completions', '9.9.9.9'],
  ])('is accepted if its host is listed: %s', (url, origin, path, host) => {
    expect(checkModelAddress(url, LISTED)).toMatchObject({ origin, path, host });
  });

  it('may be on this machine, even with http, if its host is listed', () => {
    for (const [url, listed] of [
      ['http://localhost:11434/v1', 'localhost'],
      ['http://LOCALHOST.:11434/v1', 'LocalHost.'],
      ['http://127.0.0.1:11434/v1', '127.0.0.1'],
      ['http://2130706433/v1', '127.0.0.1'],
      ['http://127.9.9.9/v1', '127.9.9.9'],
      ['http://[::1]:11434/v1', '::1'],
      ['http://[0:0::1]/v1', '[::1]'],
      ['https://[::1]/v1', '0:0:0:0:0:0:0:1'],
    ] as const)
      expect(() => checkModelAddress(url, ['api.openai.com', listed]), url).not.toThrow();
  });

  it('may be in a private network, over https, if that exact address is listed', () => {
    expect(() => checkModelAddress('https://10.0.0.5/v1', ['10.0.0.5'])).not.toThrow();
    expect(() => checkModelAddress('https://[fd00::5]/v1', ['fd00::5'])).not.toThrow();
    expect(() => checkModelAddress('http://10.0.0.5/v1', ['10.0.0.5'])).toThrow(/https:\/\//);
    expect(() => checkModelAddress('https://10.0.0.6/v1', ['10.0.0.5'])).toThrow(/10\.0\.0\.6/);
  });

  it('must have a listed port or the default port of its scheme, unless it is the configured address', () => {
    const configured = 'http://127.0.0.1:11434/v1';
    const takes = (url: string, ...listed: string[]) => {
      try {
        checkModelAddress(url, listed, configured);
        return true;
      } catch (error) {
        expect((error as { code?: string }).code).toBe('invalid_model_address');
        return false;
      }
    };
    // The configured address is accepted in any spelling, but no other port or path on its host.
    expect(takes('http://127.0.0.1:11434/v1/', '127.0.0.1')).toBe(true);
    expect(takes('http://2130706433:11434/v1', '127.0.0.1')).toBe(true);
    expect(takes('http://127.0.0.1:11435/v1', '127.0.0.1')).toBe(false);
    expect(takes('http://127.0.0.1:11434/v2', '127.0.0.1')).toBe(false);
    expect(takes('http://127.0.0.1:11434/', '127.0.0.1')).toBe(false);
    expect(takes('http://127.0.0.1:11434/v1', '127.0.0.1:11435')).toBe(false);
    expect(takes('http://127.0.0.1:11434/v1', 'api.example')).toBe(false);
    // A listed port allows that port with any path.
    expect(takes('http://127.0.0.1:11434/v2', '127.0.0.1:11434')).toBe(true);
    expect(takes('http://127.0.0.1:11435/v1', '127.0.0.1', '127.0.0.1:11435')).toBe(true);
    expect(takes('http://[::1]:8080/v1', '[::1]:8080')).toBe(true);
    expect(takes('http://[::1]:8081/v1', '[::1]:8080', '::1')).toBe(false);
    // Without a listed port, only 443 is accepted for https and 80 for http.
    expect(takes('https://api.example/v1', 'api.example')).toBe(true);
    expect(takes('https://api.example:443/v1', 'api.example')).toBe(true);
    expect(takes('https://api.example/v1', 'api.example:443')).toBe(true);
    expect(takes('https://api.example/v1', 'api.example:8443')).toBe(false);
    expect(takes('https://api.example:8443/v1', 'api.example')).toBe(false);
    expect(takes('https://api.example:22/v1', 'api.example', 'api.example:8443')).toBe(false);
    expect(takes('http://127.0.0.1/v1', '127.0.0.1')).toBe(true);
    expect(takes('http://127.0.0.1:22/v1', '127.0.0.1')).toBe(false);
    expect(() => checkModelAddress('https://api.example:22/v1', ['api.example'], configured)).toThrow(
      /port 22 of api\.example, which is not an allowed port/,
    );
  });

  it('is not allowed by a list entry that has a path or a wildcard', () => {
    for (const listed of ['https://api.openai.com', 'api.openai.com/v1', '*.openai.com', '*', ''])
      expect(() => checkModelAddress('https://api.openai.com/v1', [listed]), listed).toThrow(/not on the list/);
    expect(() => checkModelAddress('https://api.openai.com/v1', [])).toThrow(/not on the list/);
  });

  it('is refused with the reason, but without its password', () => {
    const said = (url: string) => {
      try {
        checkModelAddress(url, LISTED);
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    expect(said('https://evil.example/v1')).toMatch(/evil\.example.*not on the list of allowed hosts/);
    expect(said('https://10.1.2.3/v1')).toMatch(/10\.1\.2\.3, an address of this machine, of a private/);
    expect(said('https://u:canary-password@api.openai.com/')).toMatch(/password/);
    expect(said('https://u:canary-password@api.openai.com/')).not.toMatch(/canary/);
    expect(said('http://api.openai.com/')).toMatch(/https:\/\//);
    for (const hidden of LISTED.slice(1)) expect(said('https://evil.example/v1')).not.toContain(hidden);
  });
});

describe('a host name', () => {
  const reaches = async (url: string, listed: readonly string[], answers: readonly string[]) => {
    const ports = spies(answers);
    const code = await ask(url, listed, ports);
    if (code !== 'invalid_model_address') expect(ports.post).toHaveBeenCalledTimes(1);
    return code !== 'invalid_model_address';
  };

  it('is accepted if all its addresses are public', async () => {
    const answers = ['9.9.9.9', '104.18.6.192', '2606:4700::6812:7c0', '64:ff9b::9.9.9.9', '::ffff:9.9.9.9'];
    expect(await reaches('https://api.openai.com/v1', LISTED, answers)).toBe(true);
  });

  it('may resolve to a private address if that exact address is listed', async () => {
    const url = 'https://llm.internal/v1';
    expect(await reaches(url, ['llm.internal'], ['10.0.0.5'])).toBe(false);
    expect(await reaches(url, ['llm.internal', '10.0.0.5'], ['10.0.0.5'])).toBe(true);
    expect(await reaches(url, ['llm.internal', '10.0.0.5'], ['10.0.0.5', '10.0.0.6'])).toBe(false);
    expect(await reaches(url, ['llm.internal', 'FD00:0::5'], ['fd00::5'])).toBe(true);
  });

  it('must resolve only to this machine if it is localhost', async () => {
    expect(await reaches('http://localhost:1/v1', ['localhost'], ['127.0.0.1', '::1'])).toBe(true);
    expect(await reaches('http://localhost:1/v1', ['localhost'], ['9.9.9.9'])).toBe(false);
    expect(await reaches('http://localhost:1/v1', ['localhost'], ['127.0.0.1', '10.0.0.1'])).toBe(false);
  });

  it('is refused without telling the caller the address to which it resolves', async () => {
    const model = createChatModel(
      { baseUrl: 'https://api.openai.com/v1', model: 'm', apiKey: undefined, allowedHosts: LISTED },
      spies(['10.11.12.13']),
    );
    const failure = await model.complete(PROMPT).catch((error: Error) => error.message);
    expect(failure).toMatch(/leads to an address of this machine, of a private/);
    expect(failure).not.toContain('10.11.12.13');
  });
});

describe('reachOf', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '2a00:1450::1',
    '64:ff9b::808:808',
  ])('returns "public" for %s', (address) => expect(reachOf(address)).toBe('public'));

  it('returns undefined for an address that is not in plain form', () => {
    for (const text of ['', 'x', '127.1', '0x7f000001', '2130706433', '[::1]', '1.2.3.4.5', ' 1.1.1.1', '::1 '])
      expect(reachOf(text), text).toBeUndefined();
  });
});
