// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Result of `configRequirements/read`.
 */
export type ConfigRequirementsReadResponse = {
/**
 * Requirements of an organization. `null` if there are none.
 */
requirements?: JsonValue | null,
/**
 * Whether speed and reasoning effort can be chosen independently.
 */
supportsIndependentSpeedModes?: boolean | null, };
