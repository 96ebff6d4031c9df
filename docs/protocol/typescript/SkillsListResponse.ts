// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SkillsListEntry } from "./SkillsListEntry";

/**
 * Result of `skills/list`.
 */
export type SkillsListResponse = {
/**
 * The requested entries.
 */
data: Array<SkillsListEntry>, };
