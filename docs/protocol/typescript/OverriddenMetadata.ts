// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigLayerMetadata } from "./ConfigLayerMetadata";
import type { JsonValue } from "./JsonValue";

/**
 * The layer that overrides a written setting.
 */
export type OverriddenMetadata = {
/**
 * The effective value.
 */
effectiveValue: JsonValue,
/**
 * The message for people.
 */
message: string,
/**
 * The layer.
 */
overridingLayer: ConfigLayerMetadata, };
