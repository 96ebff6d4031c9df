// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigLayerSource } from "./ConfigLayerSource";

/**
 * Which place a setting comes from.
 */
export type ConfigLayerMetadata = {
/**
 * The name.
 */
name: ConfigLayerSource,
/**
 * The version.
 */
version: string, };
