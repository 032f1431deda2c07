// The error for a setting that cannot be used. The message is one line with the name of the
// setting, its value (unless secret) and the values that it accepts.

export class ConfigError extends Error {}
