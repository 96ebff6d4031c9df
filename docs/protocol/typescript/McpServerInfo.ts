// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Description that an MCP server gives of itself.
 */
export type McpServerInfo = {
/**
 * Name of the server.
 */
name: string,
/**
 * Version of the server.
 */
version: string,
/**
 * Description for people.
 */
description?: string | null,
/**
 * Icons.
 */
icons?: Array<JsonValue> | null,
/**
 * Display name.
 */
title?: string | null,
/**
 * URL of its website.
 */
websiteUrl?: string | null, };
