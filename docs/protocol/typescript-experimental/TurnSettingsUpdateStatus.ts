// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of a change of settings.
 */
export type TurnSettingsUpdateStatus = "applied" | "targetUnavailable";
