// Serves the console at /: its page and built files, with headers that restrict what the page can
// do.

import { refusal } from '../errors.ts';
import { contentReply } from '../http/index.ts';
import { described, text, v } from '../http/schema.ts';
import { type Route, validated } from './application.ts';

/**
 * The page may load nothing from other origins and run no inline script or style. No text can
 * become markup or script: the browser refuses innerHTML and similar (trusted types). Editors and
 * plots style their elements through the object model, which the policy allows.
 */
const CONSOLE_HEADERS: readonly (readonly [string, string])[] = [
  [
    'Content-Security-Policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  ],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  // A page that opens the console gets no reference to the console's window.
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

/** Content type by file extension; files with other extensions are not served. */
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Matches one path segment without a slash and without two dots in a row. */
const FILE_NAME = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(js|css|svg)$/;

/** File names contain a hash of the content, so the content of a file name never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const KEY_IS_WANTED = 'name="hedgerow-key" content="wanted"';
const KEY_IS_NOT = 'name="hedgerow-key" content="none"';

const page = validated({
  id: 'getConsole',
  method: 'GET',
  path: '/',
  role: 'none',
  summary: 'The console: a page to look at tables, run statements and more.',
  database: false,
  isPage: true,
  answerTypes: ['text/html'],
  answers: { 200: v.string() },
  errors: [404],
  handler: (_input, { services }) => {
    const bytes = services.consoleFile('index.html');
    if (bytes === undefined) {
      throw refusal(
        'route_not_found',
        'The console is not built yet. After a first start this takes a minute: reload this address then. If it stays so, run npm run build:console. The API is described at /docs.',
      );
    }
    // If no key is needed, the page is marked accordingly. To find out by itself, the page would
    // have to send a request without a key. A service that needs a key would refuse it and log a
    // failure.
    const html = services.authDisabled ? new TextDecoder().decode(bytes).replace(KEY_IS_WANTED, KEY_IS_NOT) : bytes;
    return contentReply(200, 'text/html; charset=utf-8', html, [...CONSOLE_HEADERS, ['Cache-Control', 'no-cache']]);
  },
});

const file = validated({
  id: 'getConsoleFile',
  method: 'GET',
  path: '/console/{file}',
  role: 'none',
  summary: 'A file of the console.',
  database: false,
  isPage: true,
  parameters: v.object({ file: described(text(), 'A name that the page asks for.') }),
  answerTypes: [...new Set(Object.values(TYPES).map((type) => type.replace(/;.*/, '')))],
  answers: { 200: v.string() },
  errors: [404],
  handler: ({ parameters }, { services }) => {
    const name = parameters.file;
    const ending = FILE_NAME.exec(name)?.[1];
    const bytes = ending === undefined ? undefined : services.consoleFile(`console/${name}`);
    if (ending === undefined || bytes === undefined) {
      throw refusal('route_not_found', `The console has no file ${name.slice(0, 100)}; reload the page.`);
    }
    const reply = contentReply(200, TYPES[ending]!, bytes, [...CONSOLE_HEADERS, ['Cache-Control', FOR_EVER]]);
    return { ...reply, packed: services.consoleFile(`packed/${name}.gz`) };
  },
});

export const consoleRoutes: readonly Route[] = [page, file];
