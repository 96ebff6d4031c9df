// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SkillToolDependency } from "./SkillToolDependency";

/**
 * What a skill needs.
 */
export type SkillDependencies = {
/**
 * The tools.
 */
tools: Array<SkillToolDependency>, };
