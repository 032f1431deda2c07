// The examples of the documents as text: code blocks by language and the heading they stand under.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Block {
  /** The last heading before it, without its marks. */
  heading: string;
  language: string;
  code: string;
}

/** All code blocks of a document, in order; `path` from the repository's root. */
export function blocksOf(path: string): Block[] {
  const text = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
  const blocks: Block[] = [];
  let heading = '';
  for (const [, title, language, code] of text.matchAll(/^#+ (.*)$|^```(\w*)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else blocks.push({ heading, language: language!, code: code! });
  }
  return blocks;
}

/** The blocks under one heading. Throws when there is none. */
export function blocksUnder(path: string, heading: string, language: string): string[] {
  const found = blocksOf(path).filter((block) => block.heading === heading && block.language === language);
  if (found.length === 0) throw new Error(`${path} has no ${language} block under ${heading}`);
  return found.map(({ code }) => code);
}
