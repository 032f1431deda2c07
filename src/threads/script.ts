// Locates the built script of a worker thread, beside the module that starts it.

/**
 * `module` is the import.meta.url of the module. When running from source (tests), the built script
 * is in the same folder below dist.
 */
export function builtScript(module: string, name: string): URL {
  const isSource = module.endsWith('.ts');
  return new URL(`./${name}`, isSource ? module.replace(/\/src\/(?!.*\/src\/)/, '/dist/') : module);
}
