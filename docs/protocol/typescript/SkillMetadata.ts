// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SkillDependencies } from "./SkillDependencies";
import type { SkillInterface } from "./SkillInterface";
import type { SkillScope } from "./SkillScope";

/**
 * A skill.
 */
export type SkillMetadata = {
/**
 * Description for people.
 */
description: string,
/**
 * Whether it is enabled.
 */
enabled: boolean,
/**
 * Name of the skill.
 */
name: string,
/**
 * Path of the skill.
 */
path: string,
/**
 * Where it is installed.
 */
scope: SkillScope,
/**
 * Its dependencies.
 */
dependencies?: SkillDependencies | null,
/**
 * Its appearance.
 */
interface?: SkillInterface | null,
/**
 * Id of the plugin that it belongs to.
 */
pluginId?: string | null,
/**
 * Short description.
 */
shortDescription?: string | null, };
