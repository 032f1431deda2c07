// Texts that try to be interpreted as markup or script, and a check of a page for traces of an
// attempt that succeeded.

import type { Page, Request } from 'playwright-core';

const ELSEWHERE = 'http://elsewhere.test';

/**
 * Texts of more kinds than in `xss.test.ts`: encodings, escapes of other languages, JavaScript
 * names and beacons.
 */
export const HOSTILE: readonly string[] = [
  '\\u003cscript\\u003eran=1\\u003c/script\\u003e',
  '&lt;img src=x onerror=ran=1&gt;',
  '&#60;script&#62;ran=1&#60;/script&#62;',
  '%3Cscript%3Eran=1%3C/script%3E',
  '\u202e<script>ran=1</script>\u202c',
  '<scr\u0000ipt>ran=1</scr\u0000ipt>',
  '<\u200bimg src=x onerror=ran=1>',
  '＜script＞ran=1＜/script＞',
  '\u001b[2J\u001b]8;;javascript:ran=1\u0007<b>x</b>\u001b]8;;\u0007',
  '[x](javascript:ran=1) ![x](http://elsewhere.test/leak.png)',
  `<img src=${ELSEWHERE}/leak.png srcset="${ELSEWHERE}/leak2.png 1x">`,
  `<link rel=prefetch href=${ELSEWHERE}/leak><link rel=stylesheet href=${ELSEWHERE}/leak.css>`,
  `}*{background:url(${ELSEWHERE}/leak)}</style><style>*{background:url(${ELSEWHERE}/leak)}</style>`,
  `<p style="background:url(${ELSEWHERE}/leak);width:expression(ran=1)">x</p>`,
  'data:text/html,<script>parent.ran=1</script>',
  '<a href="data:text/html,<script>opener.ran=1</script>" target=_blank autofocus onfocus=this.click()>x</a>',
  'vbscript:ran=1',
  '<svg><use href="data:image/svg+xml,<svg id=x xmlns=http://www.w3.org/2000/svg><script>ran=1</script></svg>#x"/></svg>',
  '<svg><animate onbegin=ran=1 attributeName=x dur=1s></svg>',
  '<svg><foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="ran=1"/></foreignObject></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=ran=1&gt;">',
  '<math href="javascript:ran=1">x</math>',
  '<form id=x></form><button form=x formaction="javascript:ran=1">x</button><input name=attributes>',
  '<form><input name=innerHTML><input name=nodeName></form>',
  '<marquee onstart=ran=1>x</marquee>',
  '<dialog open onclose=ran=1>x</dialog>',
  '<button popovertarget=y>x</button><p popover id=y onbeforetoggle=ran=1>',
  '<script src="data:text/javascript,ran=1"></script>',
  '<script type=module>globalThis.ran=1</script>',
  '<iframe srcdoc="&lt;script&gt;parent.ran=1&lt;/script&gt;">',
  '<meta http-equiv="Content-Security-Policy" content="script-src *"><meta http-equiv=refresh content="0;url=http://elsewhere.test">',
  `<base href="${ELSEWHERE}/">`,
  '<plaintext>',
  '<!--><script>ran=1</script>-->',
  ']]><script>ran=1</script>',
  '{{7*7}}#{ran=1}<%= ran=1 %>',
  '"onmouseover=ran=1 autofocus tabindex=1 onfocus=ran=1 x="',
  '`-ran=1-`',
  "';ran=1;'",
  '\u2028ran=1\u2029',
  '=HYPERLINK("javascript:ran=1")',
  '{"__proto__":{"ran":1}}',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'valueOf',
  'toString',
  '🌳'.repeat(40),
  `<b>${'long '.repeat(12_000)}</b>`,
];

/** Links of the page itself. */
const OWN_LINKS = /^(#|docs$|(\.?\/)?console\/[\w-]+\.(js|css|svg)$|blob:)/;

/**
 * Returns everything on the page that looks as if a text had become markup or script. The list is
 * empty if nothing does.
 */
export function tracesIn(page: Page): Promise<string[]> {
  return page.evaluate((own) => {
    const found: string[] = [];
    if ('ran' in globalThis) found.push('a script ran');
    for (const name in {}) found.push(`every object has ${name}`);
    const forbidden =
      'iframe,object,embed,video,audio,math,base,img,marquee,plaintext,form form,animate,foreignObject,use,x,b,input[name],template,body script,body style,body link,body meta,[popover],[srcdoc],[formaction]';
    const look = (root: Document | ShadowRoot) => {
      for (const element of root.querySelectorAll('*')) {
        if (element.matches(forbidden) && !(root !== document && element.matches('style')))
          found.push(element.outerHTML.slice(0, 200));
        if (element instanceof HTMLUnknownElement) found.push(`unknown ${element.tagName}`);
        for (const { name, value } of element.attributes) {
          if (name.startsWith('on')) found.push(`${element.tagName} ${name}`);
          if (
            ['href', 'src', 'action', 'xlink:href'].includes(name) &&
            !new RegExp(own).test(value.replace(`${location.origin}/`, ''))
          )
            found.push(`${name}: ${value}`);
          if (name === 'style' && /url\(|expression/.test(value)) found.push(`style: ${value}`);
        }
        if (element.shadowRoot !== null) look(element.shadowRoot);
      }
    };
    look(document);
    return found;
  }, OWN_LINKS.source);
}

/** Returns a list that grows with each request to another host, each popup and each dialog. */
export function strayRequests(page: Page, url: string): string[] {
  const found: string[] = [];
  const isOwn = (request: Request) => request.url().startsWith(url) || request.url().startsWith('blob:');
  page.on('request', (request) => {
    if (!isOwn(request)) found.push(request.url());
  });
  page.on('popup', (popup) => found.push(`popup ${popup.url()}`));
  page.on('dialog', (dialog) => {
    found.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  return found;
}
