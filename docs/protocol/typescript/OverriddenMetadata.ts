// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigLayerMetadata } from "./ConfigLayerMetadata";
import type { JsonValue } from "./JsonValue";

/**
 * The place whose setting wins over one just written.
 */
export type OverriddenMetadata = {
/**
 * The value that counts.
 */
effectiveValue: JsonValue,
/**
 * What there is to say.
 */
message: string,
/**
 * The place.
 */
overridingLayer: ConfigLayerMetadata, };
