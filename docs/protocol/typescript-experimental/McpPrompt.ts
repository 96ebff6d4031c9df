// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { McpPromptArgument } from "./McpPromptArgument";

/**
 * A prompt that an MCP server has for users.
 */
export type McpPrompt = {
/**
 * Name of the MCP server.
 */
server: string,
/**
 * Name of the prompt.
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
 * Its arguments.
 */
arguments: Array<McpPromptArgument>, };
