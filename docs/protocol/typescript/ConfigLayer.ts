// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigLayerSource } from "./ConfigLayerSource";
import type { JsonValue } from "./JsonValue";

/**
 * One of the files and other places that the configuration comes from.
 */
export type ConfigLayer = {
/**
 * The settings.
 */
config: JsonValue,
/**
 * The name.
 */
name: ConfigLayerSource,
/**
 * The version.
 */
version: string,
/**
 * Why it does not count.
 */
disabledReason?: string | null, };
