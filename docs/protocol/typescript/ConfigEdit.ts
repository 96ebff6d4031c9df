// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { MergeStrategy } from "./MergeStrategy";

/**
 * One change of the configuration.
 */
export type ConfigEdit = {
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
value: JsonValue, };
