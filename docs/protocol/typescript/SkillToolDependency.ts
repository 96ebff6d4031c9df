// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A tool that a skill needs.
 */
export type SkillToolDependency = {
/**
 * What kind it is.
 */
type: string,
/**
 * The value.
 */
value: string,
/**
 * The command, as a line for a shell.
 */
command?: string | null,
/**
 * What it is, for people.
 */
description?: string | null,
/**
 * How it is reached.
 */
transport?: string | null,
/**
 * The address.
 */
url?: string | null, };
