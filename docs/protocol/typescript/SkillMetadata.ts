// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { SkillDependencies } from "./SkillDependencies";
import type { SkillInterface } from "./SkillInterface";
import type { SkillScope } from "./SkillScope";

/**
 * A skill.
 */
export type SkillMetadata = {
/**
 * What it is, for people.
 */
description: string,
/**
 * Whether it is on.
 */
enabled: boolean,
/**
 * The name.
 */
name: string,
/**
 * The path.
 */
path: string,
/**
 * For whom, or how long.
 */
scope: SkillScope,
/**
 * What it needs.
 */
dependencies?: SkillDependencies | null,
/**
 * How it is shown.
 */
interface?: SkillInterface | null,
/**
 * The plugin that it comes with.
 */
pluginId?: string | null,
/**
 * What it is, in a few words.
 */
shortDescription?: string | null, };
