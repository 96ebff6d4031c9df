// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigLayerSource } from "./ConfigLayerSource";

/**
 * The layer that a setting comes from.
 */
export type ConfigLayerMetadata = {
/**
 * Source of the layer.
 */
name: ConfigLayerSource,
/**
 * Version of the layer.
 */
version: string, };
