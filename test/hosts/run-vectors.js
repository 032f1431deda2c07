// Runs the host vectors in any JavaScript host: Node, a browser, Deno, Bun. Uses only plain
// JavaScript and the WebAssembly API.

/** Instantiates the core and runs all steps. Returns a sentence for each result that differs. */
export async function runVectors(coreBytes, steps) {
  // The core imports nothing, so the import object is empty.
  const { instance } = await WebAssembly.instantiate(coreBytes, {});
  const core = instance.exports;
  const places = new Map();
  const failures = [];
  let section = 'start';

  // A place such as "name+8" is the address of a region, or a kept result, plus an offset.
  const valueOf = (argument) => {
    if (typeof argument === 'number') return argument;
    const [name, offset] = argument.split('+');
    return places.get(name) + Number(offset ?? 0);
  };
  // When memory grows, its old buffer becomes unusable. So every use takes a new view.
  const view = (at, length) => new DataView(core.memory.buffer, valueOf(at), length);
  const hexOf = (at, length) => {
    const bytes = new Uint8Array(core.memory.buffer, valueOf(at), length);
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  };
  // u32 results arrive as signed numbers, and statuses are negative. Both are compared as u32.
  const same = (result, expected) => result === expected || (Number.isInteger(result) && result >>> 0 === expected >>> 0);

  const run = {
    say: ({ what }) => {
      section = what;
    },
    region: ({ name, bytes }) => places.set(name, core.hg_memory_alloc(bytes) >>> 0),
    bytes: ({ at, hex }) => {
      const target = view(at, hex.length / 2);
      for (let i = 0; i < hex.length / 2; i++) target.setUint8(i, Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
    },
    words: ({ at, values }) => {
      const target = view(at, 4 * values.length);
      for (let i = 0; i < values.length; i++) target.setUint32(4 * i, valueOf(values[i]), true);
    },
    numbers: ({ at, values }) => {
      const target = view(at, 8 * values.length);
      for (let i = 0; i < values.length; i++) target.setFloat64(8 * i, values[i], true);
    },
    call: ({ name, args, is, keep }) => {
      const result = core[name](...args.map(valueOf));
      if (keep !== undefined) places.set(keep, result >>> 0);
      if (is !== undefined && !same(result, valueOf(is))) failures.push(`${section}: ${name} gave ${result}, not ${valueOf(is)}`);
    },
    holds: ({ at, hex }) => {
      const found = hexOf(at, hex.length / 2);
      if (found !== hex) failures.push(`${section}: ${at} holds ${found}, not ${hex}`);
    },
  };
  for (const step of steps) run[step.step](step);
  return failures;
}
