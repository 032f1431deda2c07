// Re-exports the model's messages about invalid fields for the code that answers requests.

export { invalidFields, kindOf, nameOf } from '../model/fields.ts';
