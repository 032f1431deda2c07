// The only module that names the schema library.

export * as v from 'valibot';
