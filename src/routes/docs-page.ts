// The page at /docs: its text, its files, and headers that restrict what the page can do. The build
// (docs-page.mjs) copies the library that the page uses.

/**
 * The page may load nothing from other origins and run nothing inline, so that no text of the API
 * can become a script.
 */
export const PAGE_HEADERS: readonly (readonly [string, string])[] = [
  [
    'Content-Security-Policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
];

/** Content type of each file. */
export const PAGE_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'start.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Hedgerow API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="page"></div>
    <noscript>This page needs JavaScript; the description itself is at <a href="openapi.json">openapi.json</a>.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/**
 * Without `validatorUrl: null` the library would send the address of the document to a server of
 * the library's authors.
 */
export const START_SCRIPT = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;
