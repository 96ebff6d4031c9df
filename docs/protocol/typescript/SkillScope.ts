// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * For whom a skill is there.
 */
export type SkillScope = "user" | "repo" | "system" | "admin";
