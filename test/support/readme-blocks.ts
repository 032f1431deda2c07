// Reads the examples in documents: code blocks, by their language and the heading above them.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Block {
  /** The last heading above the block, without its marks. */
  heading: string;
  language: string;
  code: string;
}

/** Returns all code blocks in a document. `path` is relative to the root of the repository. */
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

/** Returns the code blocks under one heading. Throws if there are none. */
export function blocksUnder(path: string, heading: string, language: string): string[] {
  const found = blocksOf(path).filter((block) => block.heading === heading && block.language === language);
  if (found.length === 0) throw new Error(`${path} has no ${language} block under ${heading}`);
  return found.map(({ code }) => code);
}
