// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigLayer } from "./ConfigLayer";
import type { ConfigLayerMetadata } from "./ConfigLayerMetadata";
import type { JsonValue } from "./JsonValue";

/**
 * Result of `config/read`.
 */
export type ConfigReadResponse = {
/**
 * The effective settings.
 */
config: { [key in string]: JsonValue },
/**
 * The layer of each setting, by dotted key.
 */
origins: { [key in string]: ConfigLayerMetadata },
/**
 * The layers, strongest first. `null` if they were not requested.
 */
layers?: Array<ConfigLayer> | null, };
