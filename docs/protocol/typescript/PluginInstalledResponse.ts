// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Result of `plugin/installed`.
 */
export type PluginInstalledResponse = {
/**
 * Marketplaces with their plugins.
 */
marketplaces: Array<JsonValue>,
/**
 * Errors of loading marketplaces.
 */
marketplaceLoadErrors?: Array<JsonValue> | null, };
