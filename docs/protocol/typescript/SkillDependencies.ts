// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SkillToolDependency } from "./SkillToolDependency";

/**
 * Dependencies of a skill.
 */
export type SkillDependencies = {
/**
 * The tools.
 */
tools: Array<SkillToolDependency>, };
