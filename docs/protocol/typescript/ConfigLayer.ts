// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigLayerSource } from "./ConfigLayerSource";
import type { JsonValue } from "./JsonValue";

/**
 * One of the layers that make up the configuration.
 */
export type ConfigLayer = {
/**
 * The settings.
 */
config: JsonValue,
/**
 * Source of the layer.
 */
name: ConfigLayerSource,
/**
 * Version of the layer, for `expectedVersion`.
 */
version: string,
/**
 * Why the layer is disabled. `null` if it is not.
 */
disabledReason?: string | null, };
