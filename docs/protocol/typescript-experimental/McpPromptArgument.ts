// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An argument of a prompt.
 */
export type McpPromptArgument = {
/**
 * Name of the argument.
 */
name: string,
/**
 * Title for users.
 */
title?: string | null,
/**
 * Description for users.
 */
description?: string | null,
/**
 * Whether the argument has to be given.
 */
required?: boolean | null, };
