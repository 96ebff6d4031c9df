// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * A place that settings come from.
 */
export type ConfigLayerSource = { "type": "packagedDefaults",
/**
 * The file.
 */
file: AbsolutePath, } | { "type": "mdm",
/**
 * The domain of the setting.
 */
domain: string,
/**
 * The key.
 */
key: string, } | { "type": "system",
/**
 * The file.
 */
file: AbsolutePath, } | { "type": "enterpriseManaged",
/**
 * The id.
 */
id: string,
/**
 * The name.
 */
name: string, } | { "type": "user",
/**
 * The file.
 */
file: AbsolutePath,
/**
 * The profile.
 */
profile?: string | null, } | { "type": "project",
/**
 * The directory of settings in the project.
 */
dotCodexFolder: AbsolutePath, } | { "type": "sessionFlags" } | { "type": "legacyManagedConfigTomlFromFile",
/**
 * The file.
 */
file: AbsolutePath, } | { "type": "legacyManagedConfigTomlFromMdm" };
