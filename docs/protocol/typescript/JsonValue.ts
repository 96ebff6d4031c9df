// Made by `trace schema --ts` from the server's types. Changes here are lost.

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;
