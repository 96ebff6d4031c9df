// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CapabilityRootLocation } from "./CapabilityRootLocation";

/**
 * A directory with skills and plugins that a client selected.
 */
export type SelectedCapabilityRoot = {
/**
 * Id of the directory.
 */
id: string,
/**
 * Its location.
 */
location: CapabilityRootLocation, };
