// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Where a skill is installed, and thus whom it applies to.
 */
export type SkillScope = "user" | "repo" | "system" | "admin";
