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
 * How the value is combined with an existing one.
 */
mergeStrategy: MergeStrategy,
/**
 * The new value.
 */
value: JsonValue,
/**
 * Version of the file that the client knows. The write is refused if the file has another one.
 */
expectedVersion?: string | null,
/**
 * The file to write. Without it, the user's own file.
 */
filePath?: string | null, };
