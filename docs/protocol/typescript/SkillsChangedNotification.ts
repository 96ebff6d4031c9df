// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `skills/changed`.
 */
export type SkillsChangedNotification = Record<symbol, never>;
