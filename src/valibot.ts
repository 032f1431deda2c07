// The one place that names the library of schemas.

export * as v from 'valibot';
