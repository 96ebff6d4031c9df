// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SkillsListEntry } from "./SkillsListEntry";

/**
 * Result of `skills/list`.
 */
export type SkillsListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<SkillsListEntry>, };
