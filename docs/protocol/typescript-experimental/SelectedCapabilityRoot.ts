// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CapabilityRootLocation } from "./CapabilityRootLocation";

/**
 * A directory of skills and plugins that a client chose.
 */
export type SelectedCapabilityRoot = {
/**
 * The id.
 */
id: string,
/**
 * Where it is.
 */
location: CapabilityRootLocation, };
