// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/settings/update`.
 */
export type ThreadSettingsUpdateResponse = Record<symbol, never>;
