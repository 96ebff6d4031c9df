// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { MergeStrategy } from "./MergeStrategy";

/**
 * Params of `config/value/write`.
 */
export type ConfigValueWriteParams = {
/**
 * The dotted key.
 */
keyPath: string,
/**
 * What becomes of a value that is there already.
 */
mergeStrategy: MergeStrategy,
/**
 * The value.
 */
value: JsonValue,
/**
 * The version of the file that the client knows; another one is refused.
 */
expectedVersion?: string | null,
/**
 * The file to write; the user's own if nothing is said.
 */
filePath?: string | null, };
