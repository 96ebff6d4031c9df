// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Where a hook is configured.
 */
export type HookSource = "system" | "user" | "project" | "mdm" | "sessionFlags" | "plugin" | "cloudRequirements" | "cloudManagedConfig" | "legacyManagedConfigFile" | "legacyManagedConfigMdm" | "unknown";
