// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Result of `configRequirements/read`.
 */
export type ConfigRequirementsReadResponse = {
/**
 * What an organisation demands; `null` for nothing.
 */
requirements?: JsonValue | null,
/**
 * Whether speed and effort can be chosen apart.
 */
supportsIndependentSpeedModes?: boolean | null, };
