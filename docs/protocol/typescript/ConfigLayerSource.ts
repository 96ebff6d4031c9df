// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * A source of settings.
 */
export type ConfigLayerSource = { "type": "packagedDefaults",
/**
 * The file.
 */
file: AbsolutePath, } | { "type": "mdm",
/**
 * Domain of the setting.
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
 * Id of the layer.
 */
id: string,
/**
 * Name of the layer.
 */
name: string, } | { "type": "user",
/**
 * The file.
 */
file: AbsolutePath,
/**
 * Name of the profile.
 */
profile?: string | null, } | { "type": "project",
/**
 * The settings directory in the project.
 */
dotCodexFolder: AbsolutePath, } | { "type": "sessionFlags" } | { "type": "legacyManagedConfigTomlFromFile",
/**
 * The file.
 */
file: AbsolutePath, } | { "type": "legacyManagedConfigTomlFromMdm" };
