// Says what is wrong with which fields of a request: the model's words, for rooms that answer requests.

export { invalidFields, kindOf, nameOf } from '../model/fields.ts';
