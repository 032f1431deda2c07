// Reads the flags of the long test commands, and prints their progress. Flags are `--name value`
// pairs, and a value is parsed as a number unless the default is a string.

export function readFlags<T extends Record<string, number | string>>(defaults: T, words = process.argv.slice(2)): T {
  const flags: Record<string, number | string> = { ...defaults };
  for (let place = 0; place < words.length; place += 2) {
    const name = words[place]!.replace(/^--/, '');
    const known = defaults[name];
    const value = words[place + 1];
    if (known === undefined || value === undefined || !words[place]!.startsWith('--'))
      throw new Error(
        `${words[place]} is not understood. Give ${Object.keys(defaults)
          .map((each) => `--${each} VALUE`)
          .join(', ')}.`,
      );
    flags[name] = typeof known === 'number' ? Number(value) : value;
    if (Number.isNaN(flags[name])) throw new Error(`--${name} takes a number, not ${value}.`);
  }
  return flags as T;
}

/** Prints a line on stderr. On a terminal, it replaces the previous line. */
export function progress(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
}
