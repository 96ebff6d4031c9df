// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Result of `plugin/installed`.
 */
export type PluginInstalledResponse = {
/**
 * The marketplaces with their plugins.
 */
marketplaces: Array<JsonValue>,
/**
 * Marketplaces that could not be read.
 */
marketplaceLoadErrors?: Array<JsonValue> | null, };
