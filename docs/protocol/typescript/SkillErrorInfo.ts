// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An error of reading a skill.
 */
export type SkillErrorInfo = {
/**
 * The message for people.
 */
message: string,
/**
 * Path of the skill.
 */
path: string, };
