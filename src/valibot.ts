// The only module that imports the schema library.

export * as v from 'valibot';
