// A setting that cannot be used: one line that names it, its value (unless secret) and what it
// accepts.

export class ConfigError extends Error {}
