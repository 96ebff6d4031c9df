// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * What a tool server says of itself.
 */
export type McpServerInfo = {
/**
 * The name.
 */
name: string,
/**
 * The version.
 */
version: string,
/**
 * What it is, for people.
 */
description?: string | null,
/**
 * Symbols.
 */
icons?: Array<JsonValue> | null,
/**
 * The name, for people.
 */
title?: string | null,
/**
 * Where to read about it.
 */
websiteUrl?: string | null, };
