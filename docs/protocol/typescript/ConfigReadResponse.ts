// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigLayer } from "./ConfigLayer";
import type { ConfigLayerMetadata } from "./ConfigLayerMetadata";
import type { JsonValue } from "./JsonValue";

/**
 * Result of `config/read`.
 */
export type ConfigReadResponse = {
/**
 * The settings in force.
 */
config: { [key in string]: JsonValue },
/**
 * Which place a setting comes from, by its dotted key.
 */
origins: { [key in string]: ConfigLayerMetadata },
/**
 * The places that settings come from, the weakest last; `null` unless they were asked for.
 */
layers?: Array<ConfigLayer> | null, };
