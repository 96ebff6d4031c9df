// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A tool that a skill needs.
 */
export type SkillToolDependency = {
/**
 * Kind of the dependency.
 */
type: string,
/**
 * Identifies the tool, depending on the kind.
 */
value: string,
/**
 * The command as a shell command line.
 */
command?: string | null,
/**
 * Description for people.
 */
description?: string | null,
/**
 * Transport of the MCP server.
 */
transport?: string | null,
/**
 * The URL.
 */
url?: string | null, };
