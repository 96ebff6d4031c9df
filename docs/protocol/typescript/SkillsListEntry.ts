// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SkillErrorInfo } from "./SkillErrorInfo";
import type { SkillMetadata } from "./SkillMetadata";

/**
 * The skills of one directory.
 */
export type SkillsListEntry = {
/**
 * The working directory.
 */
cwd: string,
/**
 * Errors of reading.
 */
errors: Array<SkillErrorInfo>,
/**
 * The skills.
 */
skills: Array<SkillMetadata>, };
