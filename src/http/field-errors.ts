// Describes invalid fields of a request: re-exports the model's messages for the code that answers
// requests.

export { invalidFields, kindOf, nameOf } from '../model/fields.ts';
